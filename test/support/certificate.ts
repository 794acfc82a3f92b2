import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

/**
 * A self-signed certificate, made now.
 * @param altNames as `DNS:site.test,IP:127.0.0.1`
 */
export function certificate(name: string, altNames: string): {readonly cert: string; readonly key: string} {
  const folder = mkdtempSync(join(tmpdir(), 'crawl-certificate-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const named = ['-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${altNames}`];
  try {
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...named], {stdio: 'ignore'});
    return {cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8')};
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
