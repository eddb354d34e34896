import assert from 'node:assert/strict';
import { CLUSTER_TYPE, HEALTH_TYPE } from '../../src/proto/type-urls.ts';
import { ConnectError } from '../../src/xds/provider.ts';
import type { Question, Questions } from '../../src/xds/questions.ts';
import { FakeProvider, fakeResource } from '../support/fake-provider.ts';
import { NODE, xdsTest } from './harness.ts';

const QUESTION = 'test.io/question';

class FakeQuestions implements Questions {
  readonly asked: Question[] = [];

  has(typeUrl: string): boolean {
    return typeUrl === QUESTION;
  }

  async answer(question: Question): Promise<readonly ReturnType<typeof fakeResource>[]> {
    this.asked.push(question);
    if (question.names.includes('secret')) throw new ConnectError('PERMISSION_DENIED', 'that is not for you');
    return question.names.map((name) => fakeResource(name, `${this.asked.length}`));
  }
}

xdsTest(
  'a question is answered each time that it is asked, and its answer is no subscription',
  async (start, which) => {
    const questions = new FakeQuestions();
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1' } }), { questions });
    const stream = fixture.stream(which.variant);
    stream.subscribe(QUESTION, ['x']);
    const first = await stream.next();
    assert.deepEqual(first.resources, { x: '1' });
    stream.ack(first, ['x']);
    stream.subscribe(QUESTION, ['x', 'y'], 'none');
    assert.deepEqual((await stream.next()).resources, { x: '2', y: '2' });
    assert.deepEqual(questions.asked[1]?.node.id, NODE.id);
    assert.deepEqual(fixture.discovery.streams(), []);
    assert.deepEqual(fixture.provider.sessions, []);
  },
);

xdsTest(
  'a client that asks questions may subscribe, too, without saying again who it is',
  async (start, { variant }) => {
    const questions = new FakeQuestions();
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1' } }), { questions });
    const stream = fixture.stream(variant);
    stream.subscribe(QUESTION, ['x']);
    await stream.next();
    stream.subscribe(CLUSTER_TYPE, [], 'none');
    assert.deepEqual((await stream.taken()).resources, { a: '1' });
    stream.subscribe(QUESTION, ['y'], 'none');
    assert.deepEqual((await stream.next()).resources, { y: '2' });
    assert.deepEqual(
      fixture.discovery.streams().map(({ types }) => types.map(({ typeUrl }) => typeUrl)),
      [[CLUSTER_TYPE]],
    );
  },
);

xdsTest('who may not ask is told so, and nobody else is touched', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1' } }), { questions: new FakeQuestions() });
  const other = fixture.stream(variant);
  other.subscribe(CLUSTER_TYPE);
  await other.taken();
  const stream = fixture.stream(variant);
  stream.subscribe(QUESTION, ['secret']);
  const { code, details } = await stream.ended();
  assert.deepEqual({ code, details }, { code: 7, details: 'that is not for you' });
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
  assert.deepEqual((await other.taken()).resources, { a: '2' });
});

xdsTest('what an agent says of its workload is news, and is not answered', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1' } }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  stream.subscribe(HEALTH_TYPE, [], 'none');
  assert.deepEqual(await stream.settled(), []);
});
