/** Loaded before the server that is profiled (`node --import`): SIGUSR2 begins a profile and ends it, and writes it to PROFILE_OUT. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
/** Bytes between two samples of allocations. */
const SAMPLING_INTERVAL = 16_384;
let running = false;

process.on('SIGUSR2', async () => {
  running = !running;
  if (running) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 100 });
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await session.post('Profiler.start');
  } else {
    const { profile: cpu } = await session.post('Profiler.stop');
    const { profile: heap } = await session.post('HeapProfiler.stopSampling');
    writeFileSync(process.env['PROFILE_OUT'], JSON.stringify({ cpu, heap }));
  }
});
