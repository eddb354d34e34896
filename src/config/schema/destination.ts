import { type Message, message, one, string, uint32 } from './schema.ts';

export const PortSelector: Message = message('PortSelector', '', {
  number: one(uint32, ''),
});

export const Destination: Message = message('Destination', '', {
  host: one(string, '', { required: true }),
  subset: one(string, ''),
  port: one(PortSelector, ''),
});
