/**
 * Patterns of dk.brics.automaton, which Nutch's automaton filter takes, as RE2's. The two share `| * + ? {n,m} [ ] ( ) .`;
 * in brics a backslash and a letter is that letter, `^` and `$` mean themselves, `"…"` is text as it stands,
 * `@` is any text. Complement `~`, intersection `&`, the empty language `#` and intervals `<1-9>` have no form in RE2.
 *
 * @see https://www.brics.dk/automaton/doc/dk/brics/automaton/RegExp.html
 */
export function bricsToRe2(source: string): {readonly pattern: string} | {readonly problem: string} {
  let out = '';
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!;
    if (c === '\\') {
      const next = source[++i];
      if (next === undefined) return {problem: 'a backslash at the end'};
      out += /[A-Za-z0-9]/.test(next) ? next : quote(next);
    } else if (inClass) {
      if (c === ']') inClass = false;
      // Without a backslash [ stands for itself in a class
      out += c === '[' ? '\\[' : c;
    } else if (c === '"') {
      const end = source.indexOf('"', i + 1);
      if (end < 0) return {problem: 'a " that is not closed'};
      out += `(?:${[...source.slice(i + 1, end)].map(quote).join('')})`;
      i = end;
    } else if (c === '@') out += '(?:.*)';
    else if (c === '^' || c === '$') out += quote(c);
    else if (c === '~' || c === '&' || c === '#' || c === '<')
      return {problem: `the operator ${c}; the character is written \\${c}`};
    else {
      if (c === '[') {
        inClass = true;
        if (source[i + 1] === '^') {
          out += '[^';
          i++;
          continue;
        }
      }
      out += c;
    }
  }
  return {pattern: out};
}

const quote = (c: string) => (/[!-/:-@[-`{-~]/.test(c) && c !== '_' ? `\\${c}` : c);
