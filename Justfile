# What must pass before a change goes in: format, lint, types, unused code, tests, docs.
default: format-check lint types unused test

bin := "node_modules/.bin"

# Install packages and build dist/.
build:
    node cli/setup.mjs build

# Write the project's format into the files.
format:
    {{bin}}/biome check --write .

# Fail where the format differs.
format-check:
    {{bin}}/biome format .

# Fail on what the linter finds.
lint:
    {{bin}}/biome lint .

# Check types, tests included.
types:
    {{bin}}/tsc --noEmit -p .

# Find code, exports and packages that nothing uses.
unused:
    {{bin}}/knip

# Run the tests, or those of the files given: just test test/unit/lock.test.ts
test *FILES:
    node cli/setup.mjs test {{FILES}}

# Crawl the embedded demo web.
demo:
    node cli/setup.mjs start

# Write the generated documents anew.
docs:
    node --import tsx test/support/write-docs.ts

# Run one benchmark: just bench test/bench/url-normalize.ts
bench FILE *ARGS:
    node --import tsx {{FILE}} {{ARGS}}
