import {CrawlError} from '../../lib/errors.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import type {UrlPolicy} from '../../lib/url/policy.ts';

/**
 * The digest of the configured policy, for the manifest. All keys of a crawl belong to one policy: with another,
 * one page would have two rows.
 *
 * @throws CrawlError URL_POLICY_CHANGED where the crawl's URLs have their form by another policy
 */
export function heldPolicy(snapshot: Snapshot, policy: UrlPolicy): string {
  const held = snapshot.manifest.policies.url;
  const rows = snapshot.manifest.slots.crawldb?.rows ?? 0;
  if (held !== undefined && held !== policy.digest && rows > 0)
    throw new CrawlError(
      'URL_POLICY_CHANGED',
      'the settings of url differ from those that made this crawl’s URLs',
      {
        facts: {held, configured: policy.digest},
      },
    );
  return policy.digest;
}
