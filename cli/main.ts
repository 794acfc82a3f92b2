#!/usr/bin/env node
import process from 'node:process';
import {run} from './run.ts';
import {catchSignals} from './signals.ts';

const {stdout, stderr, stdin, env} = process;
const {signal} = catchSignals(process);
signal.addEventListener('abort', () => stdin.destroy()); // who waits for input ends too
process.exitCode = await run(process.argv.slice(2), {stdout, stderr, stdin, env, cwd: process.cwd(), signal});
