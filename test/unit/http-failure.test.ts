import assert from 'node:assert/strict';
import {test} from 'node:test';
import {isOwnFault} from '../../lib/http/failure.ts';

const failure = (code: string, address?: string) =>
  Object.assign(new Error(`connect ${code}`), {code, syscall: 'connect', ...(address && {address})});

test('what is this machine’s own fault, and what is an address that cannot be reached', () => {
  assert.ok(isOwnFault(failure('EMFILE')));
  assert.ok(isOwnFault(failure('EADDRNOTAVAIL', '192.0.2.1')), 'no port is left');
  assert.ok(!isOwnFault(failure('EADDRNOTAVAIL', '2001:db8::1')), 'no IPv6 here');
  assert.ok(!isOwnFault(failure('ECONNREFUSED', '192.0.2.1')));
  assert.ok(!isOwnFault(new Error('no code')));
});
