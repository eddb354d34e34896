import { type AliasEvent, EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import type { SourceLocation } from '../base/diagnostic.ts';
import type { Config, RawDocument } from './config.ts';
import type { Path } from './finding.ts';
import { readYaml } from './yaml.ts';
import { keyText, plainValue } from './yaml-schema.ts';

/**
 * Where `path` stands in a document: a scalar, or a list or map on the line of its key, at its value; else at its key. Of a
 * path that is not there, the nearest parent that is. What an alias repeats stands where it is written out.
 *
 * @param events of the document, as `readYaml` gives them
 * @param part `key` asks for the name of the field, not its value
 * @returns an offset in the document's text
 */
export function offsetOf(text: string, events: readonly Event[], path: Path, part: 'key' | 'value' = 'value'): number {
  const search = new Search(text, events);
  let found: Found = { node: 1, key: undefined };
  for (const step of path) {
    const next = search.child(found.node, step);
    if (next === undefined) return search.offset(found, 'value');
    found = next;
  }
  return search.offset(found, part);
}

interface Found {
  /** Index of the event that begins the value. */
  readonly node: number;
  /** Index of the event of its key; undefined for the root and for items of lists. */
  readonly key: number | undefined;
}

class Search {
  readonly #text: string;
  readonly #events: readonly Event[];

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  child(parent: number, step: string | number): Found | undefined {
    const node = this.#resolved(parent);
    const event = this.#events[node];
    if (event?.type === EVENT_ID.SEQUENCE) return typeof step === 'number' ? this.#item(node, step) : undefined;
    return event?.type === EVENT_ID.MAPPING ? this.#entry(node, String(step)) : undefined;
  }

  offset({ node, key }: Found, part: 'key' | 'value'): number {
    const value = this.#start(node);
    const name = key === undefined ? undefined : this.#start(key);
    if (name === undefined) return value ?? 0;
    if (part === 'key' || value === undefined) return name;
    const isScalar = this.#events[node]?.type === EVENT_ID.SCALAR;
    return isScalar || !this.#text.slice(name, value).includes('\n') ? value : name;
  }

  #item(list: number, index: number): Found | undefined {
    let node = list + 1;
    for (let i = 0; this.#exists(node); i++, node = this.#after(node)) if (i === index) return { node, key: undefined };
    return undefined;
  }

  /** Of keys that stand twice the last; of maps that are merged the first. */
  #entry(map: number, name: string): Found | undefined {
    let found: Found | undefined;
    const merges: number[] = [];
    for (let key = map + 1; this.#exists(key); ) {
      const node = this.#after(key);
      const event = this.#events[key] as ScalarEvent | AliasEvent;
      if (this.#isMerge(event)) merges.push(node);
      else if (this.#name(event) === name) found = { node, key };
      key = this.#after(node);
    }
    return found ?? firstOf(merges, (node) => this.#merged(node, name));
  }

  #merged(node: number, name: string): Found | undefined {
    const source = this.#resolved(node);
    const event = this.#events[source];
    if (event?.type === EVENT_ID.MAPPING) return this.#entry(source, name);
    if (event?.type !== EVENT_ID.SEQUENCE) return undefined;
    const items: number[] = [];
    for (let item = source + 1; this.#exists(item); item = this.#after(item)) items.push(item);
    return firstOf(items, (item) => this.#merged(item, name));
  }

  #isMerge(event: Event | undefined): boolean {
    return event?.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && this.#scalar(event) === '<<';
  }

  #name(event: ScalarEvent | AliasEvent): string | undefined {
    if (event.type === EVENT_ID.ALIAS) {
      const named = this.#events[this.#anchor(event)];
      return named?.type === EVENT_ID.SCALAR ? this.#name(named) : undefined;
    }
    const text = this.#scalar(event);
    return event.style === SCALAR_STYLE.PLAIN && event.tagStart === -1 ? (keyText(plainValue(text)) ?? text) : text;
  }

  #scalar(event: ScalarEvent): string {
    return getScalarValue(this.#text, event);
  }

  /** The node itself, or what an alias stands for. */
  #resolved(node: number): number {
    const event = this.#events[node];
    return event?.type === EVENT_ID.ALIAS ? this.#anchor(event) : node;
  }

  #anchor(alias: AliasEvent): number {
    const name = this.#text.slice(alias.anchorStart, alias.anchorEnd);
    return this.#events.findLastIndex(
      (event) =>
        event.type !== EVENT_ID.ALIAS &&
        'anchorStart' in event &&
        event.anchorStart !== -1 &&
        event.anchorStart < alias.anchorStart &&
        this.#text.slice(event.anchorStart, event.anchorEnd) === name,
    );
  }

  #exists(node: number): boolean {
    const event = this.#events[node];
    return event !== undefined && event.type !== EVENT_ID.POP;
  }

  /** The index behind a node. */
  #after(node: number): number {
    let depth = 0;
    for (let at = node; at < this.#events.length; at++) {
      const type = this.#events[at]?.type;
      if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth++;
      else if (type === EVENT_ID.POP) depth--;
      if (depth <= 0) return at + 1;
    }
    return this.#events.length;
  }

  /** Where the `|` or `>` stands of a block scalar whose text begins at `textStart`. */
  #blockStart(textStart: number): number {
    const lineStart = this.#text.lastIndexOf('\n', textStart - 2) + 1;
    const header = /[|>][-+0-9]*[ \t]*(?:[ \t]#.*)?\n?$/.exec(this.#text.slice(lineStart, textStart));
    return header === null ? textStart : lineStart + header.index;
  }

  #start(node: number): number | undefined {
    const event = this.#events[node];
    if (event === undefined) return undefined;
    if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
    if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start;
    if (event.type !== EVENT_ID.SCALAR || event.valueStart === -1) return undefined;
    switch (event.style) {
      case SCALAR_STYLE.PLAIN:
        return event.valueStart;
      case SCALAR_STYLE.SINGLE_QUOTED:
      case SCALAR_STYLE.DOUBLE_QUOTED:
        return event.valueStart - 1;
      default:
        return this.#blockStart(event.valueStart);
    }
  }
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The place in the file of an offset in a document's text. */
export function locationAt({ file, line, text }: RawDocument, offset: number): SourceLocation {
  let newline = -1;
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    newline = at;
    lines++;
  }
  return { file, line: line + lines, column: offset - newline };
}

/**
 * Where a field of an object stands, for findings that are made after it was read. The document is read again.
 *
 * @param path from the root of the object: `['spec', 'hosts', 0]`
 */
export function locate({ document, kind, namespace, name }: Config, path: Path): SourceLocation {
  const { value, events } = readYaml(document.text);
  const object = objectPath(value, kind, namespace, name);
  return locationAt(document, offsetOf(document.text, events, [...object, ...path]));
}

/** Where an object stands in its document: at the root, or among the items of a List. */
function objectPath(value: unknown, kind: string, namespace: string, name: string): Path {
  const list = value as { readonly kind?: unknown; readonly items?: unknown } | null | undefined;
  if (list?.kind === kind || !Array.isArray(list?.items)) return [];
  const items = list.items as readonly { readonly kind?: unknown; readonly metadata?: Partial<Config> }[];
  const index = items.findIndex(
    (item) =>
      item?.kind === kind && item.metadata?.name === name && (item.metadata.namespace ?? namespace) === namespace,
  );
  return index === -1 ? [] : ['items', index];
}
