import {type ErrorFacts, errorCodes} from './errors.ts';

/** docs/errors.md, from the list of codes. */
export function errorsPage(): string {
  const rows = Object.entries<ErrorFacts>(errorCodes).map(
    ([code, {doc, exit, advice}]) => `| \`${code}\` | ${exit} | ${cell(doc)} | ${cell(advice)} |`,
  );
  return `# Errors

<!-- Made from lib/errors.ts by \`node --import tsx test/support/write-docs.ts\`; a test checks that it is fresh. -->

These stop a command. Failures of the web are no errors: they are rows with a \`reason\`, which the data dictionary lists.

A command prints the message and a hint on standard error. With \`--json\` it is one line:
\`{"error": {"code", "message", "hint", "exit", "facts"}}\`. Match on \`code\`, not on the text; \`facts\` names the file,
segment or setting. \`--debug\` adds the stack trace. Nothing of the crawl is changed, unless the sentence says otherwise.

| code | exit | what has happened | what to do |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
