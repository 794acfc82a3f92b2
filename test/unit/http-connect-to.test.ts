import assert from 'node:assert/strict';
import {test} from 'node:test';
import {connectToMap} from '../../lib/http/connect-to.ts';

test('connect_to finds hosts as URLs name them: case ignored, IDN in either form, addresses, wildcards', () => {
  const where = connectToMap({
    'Bücher.test:80': '127.0.0.1:8080',
    '[2001:DB8::1]:443': '[::1]:8443',
    'any.test:*': 'other.test:*',
    '*:81': '*:8081',
  });
  const to = (host: string, port: number) => {
    const target = where(host, port);
    return target === undefined ? undefined : [target.host, target.port, target.pinned];
  };
  assert.deepEqual(to('xn--bcher-kva.test', 80), ['127.0.0.1', 8080, true]);
  assert.deepEqual(to('2001:db8::1', 443), ['::1', 8443, true]);
  assert.deepEqual(to('any.test', 5), ['other.test', 5, false]);
  assert.deepEqual(to('else.test', 81), ['else.test', 8081, false]);
  assert.equal(to('else.test', 80), undefined);
  for (const bad of ['a b.test:80', 'x.test', ':80', 'x.test:port'])
    assert.throws(() => connectToMap({[bad]: '127.0.0.1:1'}), {code: 'CONFIG_INVALID'}, bad);
});
