import { type Labels, selects } from '../base/labels.ts';

/** A selector as MeshConfig, and as objects of Kubernetes, have it. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key?: string;
    readonly operator?: string;
    readonly values?: readonly string[];
  }[];
}

/** Kubernetes' label selectors; an empty one matches all. An unknown operator matches nothing. */
export function matchesSelector({ matchLabels, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    selects(matchLabels, labels) &&
    matchExpressions.every(({ key = '', operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      return operator === 'NotIn' && (value === undefined || !values.includes(value));
    })
  );
}
