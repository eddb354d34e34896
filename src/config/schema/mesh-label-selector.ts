import { list, type Message, map, message, one, string } from './schema.ts';

export const LabelSelectorRequirement: Message = message('LabelSelectorRequirement', '', {
  key: one(string, ''),
  operator: one(string, ''),
  values: list(string, ''),
});

export const LabelSelector: Message = message('LabelSelector', '', {
  matchLabels: map(string, ''),
  matchExpressions: list(LabelSelectorRequirement, ''),
});
