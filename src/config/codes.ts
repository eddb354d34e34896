/**
 * Every code that a finding can have, with what it means. `IST…` are Istio's own (istio/istio
 * pkg/config/analysis/msg/messages.yaml), used where one says the same; `VM…` are ours: 00 fields and kinds, 01 files and
 * documents, 02 what is served.
 */
export const CODES = {
  IST0002: 'A field is deprecated; the finding says what replaces it.',
  IST0101: 'The object refers to something that is not there.',
  IST0106: 'The object can not be taken: its schema or its meaning is wrong.',
  IST0109: 'VirtualServices for sidecars have a host in common.',
  IST0110: 'Sidecars select the same workload.',
  IST0111: 'Several Sidecars are for all workloads of a namespace.',
  IST0127: 'The object selects no workload.',
  IST0130: 'A rule of a VirtualService is never reached, as rules before it take all its requests.',
  IST0131: 'A match of a VirtualService never decides, as a rule before it has the same or a wider one.',
  IST0133: 'The object is taken, but says something that has no effect or is likely a mistake.',
  IST0134: 'A TCP service has no addresses by which it could be told from others.',
  IST0145: 'Gateways for the same proxies have a host in common on a port.',
  IST0174: 'A DestinationRule is about no service of the mesh.',
  VM0001: 'A field is unknown. It is ignored; in security policies and in strict mode the object is refused.',
  VM0002: 'The kind is known, but nothing is made of it yet.',
  VM0003: 'A part of the object can not be taken, as a patch of an EnvoyFilter; the rest of it is.',
  VM0101: 'A file or directory can not be read; what was read of it before stays in force.',
  VM0102: 'A file or document is larger than the limits allow.',
  VM0103: 'The text is not YAML or JSON in UTF-8.',
  VM0104: 'The text is YAML, but not what it seems: a key stands twice or is read as a boolean, a tag is unknown.',
  VM0105: 'The document is no object: apiVersion, kind or metadata are missing or wrong.',
  VM0106: 'The kind is not known; the document is ignored.',
  VM0107: 'The kind is known, but not in this version.',
  VM0201: 'The object stands in another place, too, which is served instead.',
  VM0202: 'The last good version of the object is served, as its present one can not be taken.',
  VM0203: 'Another DestinationRule for the same host says the same, and counts.',
  VM0204: 'Services have addresses in common on a TCP port.',
  VM0205: 'A server of a Gateway can not share its port with one that comes first.',
} as const;

export type Code = keyof typeof CODES;
