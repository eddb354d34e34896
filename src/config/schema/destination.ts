import { bounded, type Message, message, one, string, uint32 } from './schema.ts';

export const PortSelector: Message = message('PortSelector', 'A port.', {
  number: one(bounded(uint32, { min: 1, max: 65535 }), 'Its number.', { required: true }),
});

export const Destination: Message = message('Destination', 'A service, or a part of it.', {
  host: one(string, "Name in the registry; a short one is completed with the object's namespace.", { required: true }),
  subset: one(string, 'Subset that a DestinationRule defines.'),
  port: one(PortSelector, 'Port of the service. May be left out when it has only one.'),
});
