/**
 * What a first visit to a dead link (404, 410) counts in the yield of a host, of a page with content of its own: it leads
 * nowhere and weighs nothing, and the host is done with it (chosen: decision 0186).
 */
export const deadLinkWorth = 0.25;

/** Known URLs from which on the first folders of a host are told apart (chosen: more than most hosts have). */
export const largeHost = 1000;
