/** `import … from '…'`, `export … from '…'`, `import '…'`, `import('…')`, `require('…')`: whatever looks like one. */
const specifier = /\b(?:from|import|require)\b\s*\(?\s*(["'])([^"'\n]+)\1/g;

/**
 * Modules that a source text names, each once. A comment or text that looks like an import counts too: it makes a
 * digest depend on one file more. Names that are made up while running are not seen.
 */
export function importsOf(source: string): string[] {
  return [...new Set([...source.matchAll(specifier)].map((match) => match[2]!))];
}

/** Endings by which a module may be found that is named without one, or by that of what TypeScript makes of it. */
export function candidatesOf(path: string): string[] {
  const swapped = /^(.*)\.([cm]?)js$/.exec(path);
  return [
    path,
    ...(swapped === null ? [] : [`${swapped[1]}.${swapped[2]}ts`]),
    ...['.ts', '.mts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js', '/index.mjs'].map(
      (end) => `${path}${end}`,
    ),
  ];
}

/** Name of the package that a bare specifier is of; undefined for Node's own modules and relative ones. */
export function packageOf(name: string): string | undefined {
  if (name.startsWith('node:') || name.startsWith('.') || name.startsWith('/') || name.startsWith('#'))
    return undefined;
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}
