import { list, type Message, map, message, one, string } from './schema.ts';

export const LabelSelectorRequirement: Message = message('LabelSelectorRequirement', 'A condition on one label.', {
  key: one(string, 'The label.'),
  operator: one(string, '`In`, `NotIn`, `Exists` or `DoesNotExist`.'),
  values: list(string, 'Values, for `In` and `NotIn`.'),
});

export const LabelSelector: Message = message('LabelSelector', 'Conditions on labels, all of which must hold.', {
  matchLabels: map(string, 'Labels with their exact values.'),
  matchExpressions: list(LabelSelectorRequirement, 'Further conditions.'),
});
