import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml';
import type { TextProblem } from './document.ts';
import { LIMITS } from './limits.ts';
import { CORE_TAGS, keyText, NOT_FINITE, plainValue, taggedValue } from './yaml-schema.ts';

/** What a document says. */
export interface YamlDocument {
  /** JSON's types, and bigint for whole numbers beyond 2^53; what an alias repeats is one object. Absent when refused. */
  readonly value?: unknown;
  readonly problems: readonly TextProblem[];
  /** The document as js-yaml's events, in which paths are placed; empty when the text is no YAML. */
  readonly events: readonly Event[];
}

/**
 * Reads one document with the meaning that Kubernetes gives to YAML, within LIMITS. Of keys that stand twice the last one
 * counts; the keys of a mapping win over those that `<<` merges into it. Never throws.
 */
export function readYaml(text: string): YamlDocument {
  let events: readonly Event[] = [];
  try {
    // One more than a value may have: js-yaml counts scalars, too.
    events = parseEvents(text, { maxDepth: LIMITS.depth + 2 });
    return new Construction(text, events).run();
  } catch (error) {
    if (error instanceof Refused) return { problems: [...error.others, error.problem], events };
    return { problems: [syntaxProblem(error)], events: [] };
  }
}

function syntaxProblem(error: unknown): TextProblem {
  if (!(error instanceof YAMLException)) {
    return { severity: 'error', code: 'VM0103', offset: 0, message: `the document can not be read: ${String(error)}` };
  }
  const tooDeep = error.reason.startsWith('nesting exceeded');
  return {
    severity: 'error',
    code: tooDeep ? 'VM0102' : 'VM0103',
    offset: error.mark?.position ?? 0,
    message: tooDeep ? TOO_DEEP : error.reason,
  };
}

const TOO_DEEP = `lists and maps are nested deeper than ${LIMITS.depth} levels: make the document flatter`;

/** A document with more has been made by a machine; the first ones show what is wrong with it. */
const MOST_WARNINGS = 20;

/** Ends the construction of a document that can not be taken. */
class Refused extends Error {
  readonly problem: TextProblem;
  readonly others: readonly TextProblem[];

  constructor(problem: TextProblem, others: readonly TextProblem[]) {
    super(problem.message);
    this.problem = problem;
    this.others = others;
  }
}

interface Anchor {
  readonly value: unknown;
  /** Nodes in it, and levels of lists and maps. */
  readonly nodes: number;
  readonly height: number;
}

/** A list or map that is being filled. */
interface Frame {
  readonly list: unknown[] | undefined;
  readonly map: Record<string, unknown> | undefined;
  readonly start: number;
  readonly anchor: string | undefined;
  readonly nodesBefore: number;
  height: number;
  key: string | undefined;
  isMerge: boolean;
  readonly merged: Record<string, unknown>[];
}

class Construction {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #problems: TextProblem[] = [];
  readonly #frames: Frame[] = [];
  readonly #anchors = new Map<string, Anchor | undefined>();
  #tagHandles: ReadonlyMap<string, string> = new Map();
  #nodes = 0;
  /** Nodes that are not counted, as they stand in items of a list that are counted one by one. */
  #itemsStart: number | undefined;
  #repeated = 0;
  /** Where the last scalar stands. */
  #position = 0;
  #documents = 0;
  #value: unknown;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  run(): YamlDocument {
    for (const event of this.#events) this.#take(event);
    return { value: this.#value ?? null, problems: this.#problems, events: this.#events };
  }

  #take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (++this.#documents > 1)
          this.#refuse(0, 'a line end alone (CR) hides a second document: save the file with LF');
        this.#tagHandles = new Map(event.directives.flatMap((d) => (d.kind === 'tag' ? [[d.handle, d.prefix]] : [])));
        return;
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE:
        this.#open(event);
        return;
      case EVENT_ID.SCALAR:
        this.#scalar(event);
        return;
      case EVENT_ID.ALIAS:
        this.#alias(this.#text.slice(event.anchorStart, event.anchorEnd), event.anchorStart - 1);
        return;
      case EVENT_ID.POP:
        this.#close();
    }
  }

  #refuse(offset: number, message: string, code: TextProblem['code'] = 'VM0103'): never {
    throw new Refused({ severity: 'error', code, offset, message }, this.#problems);
  }

  #count(nodes: number, offset: number): void {
    this.#nodes += nodes;
    if (this.#nodes - (this.#itemsStart ?? 0) > LIMITS.nodes || this.#repeated > LIMITS.nodes) {
      const what = this.#itemsStart === undefined ? 'the document' : 'an item';
      this.#refuse(
        offset,
        `${what} has more than ${LIMITS.nodes} values, those that aliases repeat included: split it`,
        'VM0102',
      );
    }
  }

  #open(event: Extract<Event, { style: unknown; start: number }>): void {
    const isMap = event.type === EVENT_ID.MAPPING;
    const start = event.start;
    if (this.#frames.length >= LIMITS.depth) this.#refuse(start, TOO_DEEP, 'VM0102');
    const parent = this.#frames.at(-1);
    if (parent?.map !== undefined && parent.key === undefined && !parent.isMerge) {
      const isTemplate = this.#text.startsWith('{', start) && this.#text[start - 1] === '{';
      const template = 'a template is not filled in here: write what it stands for, or put a text with "{{" in quotes';
      this.#refuse(start, isTemplate ? template : 'a list or a map can not be a key: write a text');
    }
    // The items of a List are objects of their own, so each may be as large as a document.
    if (this.#frames.length === 2 && parent?.list !== undefined && this.#frames[0]?.key === 'items') {
      this.#itemsStart = this.#nodes;
    }
    this.#count(1, start);
    const tag = this.#tag(event.tagStart, event.tagEnd);
    if (tag !== undefined && tag !== '!' && tag !== `${CORE_TAGS}${isMap ? 'map' : 'seq'}`)
      this.#unknownTag(tag, event.tagStart);
    const anchor = event.anchorStart === -1 ? undefined : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    this.#frames.push({
      list: isMap ? undefined : [],
      map: isMap ? {} : undefined,
      start,
      anchor,
      nodesBefore: this.#nodes,
      height: 1,
      key: undefined,
      isMerge: false,
      merged: [],
    });
  }

  #close(): void {
    const frame = this.#frames.pop();
    if (frame === undefined) return;
    if (frame.map !== undefined) fillIn(frame.map, frame.merged);
    const value = frame.list ?? frame.map;
    if (frame.anchor !== undefined) {
      this.#anchors.set(frame.anchor, { value, nodes: this.#nodes - frame.nodesBefore + 1, height: frame.height });
    }
    this.#add(value, frame.start, frame.height);
  }

  #scalar(event: ScalarEvent): void {
    const text = getScalarValue(this.#text, event);
    const plain = event.style === SCALAR_STYLE.PLAIN;
    // A value that is left out has no place of its own.
    const start = Math.max(event.valueStart, event.tagStart, event.anchorStart, this.#position);
    const at = plain || event.valueStart === -1 ? start : start - 1;
    this.#position = at;
    const tag = this.#tag(event.tagStart, event.tagEnd);
    const value = tag === undefined && plain ? plainValue(text) : this.#tagged(tag, text, plain, at);
    if (event.anchorStart !== -1) {
      const anchor = this.#text.slice(event.anchorStart, event.anchorEnd);
      this.#anchors.set(anchor, { value, nodes: 1, height: 0 });
    }
    this.#count(1, at);
    const frame = this.#frames.at(-1);
    if (frame?.map !== undefined && frame.key === undefined && !frame.isMerge) {
      this.#key(frame, value, text, at, plain && tag === undefined);
      return;
    }
    if (value === NOT_FINITE)
      this.#refuse(at, `"${text}" is no number that JSON has: write a finite number, or quote it`);
    this.#add(value, at, 0);
  }

  #key(frame: Frame, value: unknown, text: string, offset: number, plain: boolean): void {
    if (plain && text === '<<') {
      frame.isMerge = true;
      return;
    }
    const key = value === NOT_FINITE ? text : keyText(value);
    if (key === undefined) this.#refuse(Math.max(0, offset), 'a key is missing before ":"; null can not be a key');
    if (Object.hasOwn(frame.map as object, key)) {
      this.#warn(offset, `the key "${key}" stands twice here; the last one counts: remove the other`);
    }
    if (plain && typeof value === 'boolean' && text.toLowerCase() !== key) {
      this.#warn(offset, `the key "${text}" is read as "${key}", as Kubernetes does: put it in quotes`);
    }
    frame.key = key;
  }

  #alias(name: string, offset: number): void {
    const anchor = this.#anchors.get(name);
    if (anchor === undefined) this.#refuse(offset, this.#deadAlias(name));
    const frame = this.#frames.at(-1);
    if (frame?.map !== undefined && frame.key === undefined && !frame.isMerge) {
      this.#key(frame, anchor.value, '', offset, false);
      return;
    }
    if (this.#frames.length + anchor.height > LIMITS.depth) this.#refuse(offset, TOO_DEEP, 'VM0102');
    this.#repeated += anchor.nodes;
    this.#count(anchor.nodes, offset);
    this.#add(anchor.value, offset, anchor.height);
  }

  #deadAlias(name: string): string {
    if (this.#anchors.has(name)) return `the alias "*${name}" stands within what it names, which never ends`;
    if (!/^\w/.test(name)) return `a text that begins with "*" needs quotes: write "*${name}" with them`;
    return `the alias "*${name}" names nothing: write "&${name}" before what it stands for, or quote the text`;
  }

  #add(value: unknown, offset: number, height: number): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#value = value;
      return;
    }
    frame.height = Math.max(frame.height, height + 1);
    if (frame.list !== undefined) {
      frame.list.push(value);
    } else if (frame.isMerge) {
      frame.isMerge = false;
      frame.merged.push(...this.#mergeSources(value, offset));
    } else if (frame.map !== undefined && frame.key !== undefined) {
      setKey(frame.map, frame.key, value);
      frame.key = undefined;
    }
  }

  #mergeSources(value: unknown, offset: number): readonly Record<string, unknown>[] {
    const sources = Array.isArray(value) ? value : [value];
    if (sources.every((source) => typeof source === 'object' && source !== null && !Array.isArray(source)))
      return sources;
    return this.#refuse(offset, '"<<" merges a map, or a list of maps: write an alias of one, as "<<: *name"');
  }

  #tagged(tag: string | undefined, text: string, plain: boolean, offset: number): unknown {
    if (tag === undefined) return text;
    const { value, mismatch, unknown } = taggedValue(tag, text, plain);
    if (mismatch !== undefined) this.#refuse(offset, `"${text}" has the tag of ${mismatch}, which it is not`);
    if (unknown === true) this.#unknownTag(tag, offset);
    return value;
  }

  #tag(start: number, end: number): string | undefined {
    if (start === -1) return undefined;
    const raw = this.#text.slice(start, end);
    if (raw.startsWith('!<')) return raw.slice(2, -1);
    const [, handle = '!', suffix = ''] = /^(!\w*!|!)(.*)$/s.exec(raw) ?? [];
    if (raw === '!') return raw;
    return (this.#tagHandles.get(handle) ?? (handle === '!!' ? CORE_TAGS : handle)) + suffix;
  }

  #unknownTag(tag: string, offset: number): void {
    this.#warn(offset, `the tag "${tag}" has no meaning here and is ignored: remove it`);
  }

  #warn(offset: number, message: string): void {
    if (this.#problems.length === MOST_WARNINGS) return;
    this.#problems.push({ severity: 'warning', code: 'VM0104', offset, message });
  }
}

function setKey(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else map[key] = value;
}

function fillIn(map: Record<string, unknown>, sources: readonly Record<string, unknown>[]): void {
  for (const source of sources) {
    for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(map, key)) setKey(map, key, value);
  }
}
