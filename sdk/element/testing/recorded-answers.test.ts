import { describe, expect, it } from 'vitest'
import { defineElement, z } from '../index.ts'
import { createRecordedAnswers, createStream, openElement, runElement } from './test-kit.ts'

/** Reports the objects that its model takes for dogs. */
const dogs = defineElement({
  args: z.strictObject({}),
  events: { dog: z.object({ score: z.number() }) },
  async process({ objects }, { infer }) {
    const results = await Promise.all(objects.map(({ bbox }) => infer('animals', { region: bbox })))
    const scores = results.map(({ outputs }) => outputs.scores!.data[1]!)
    return {
      events: scores.filter(score => score > 0.5).map(score => ({ type: 'dog' as const, score })),
    }
  },
})

const bbox = { x: 0.25, y: 0.5, w: 0.25, h: 0.25 }
const animal = { class: 'animal', score: 0.9, bbox }

describe('an element that runs models', () => {
  it('is tested with recorded answers, in order or computed', async () => {
    const infer = createRecordedAnswers({
      animals: [{ outputs: { scores: [0.75, 0.25] } }, { outputs: { scores: [0.25, 0.75] } }],
    })
    const stream = createStream(25)
    const element = await openElement(dogs, { infer })
    const { events } = await runElement(element, [stream.next([animal]), stream.next([animal])])
    expect(events).toEqual([{ type: 'dog', score: 0.75, seconds: 0.08 }])
    expect(infer.requests).toEqual(Array(2).fill({ model: 'animals', region: bbox }))

    const computed = createRecordedAnswers({
      animals: ({ region }) => ({ outputs: { scores: [0, region!.x + 0.5] } }),
    })
    const other = await openElement(dogs, { infer: computed })
    expect((await runElement(other, [stream.next([animal])])).events[0]).toMatchObject({
      score: 0.75,
    })
  })

  it('fails with the model whose answers are missing', async () => {
    const run = async (infer?: ReturnType<typeof createRecordedAnswers>) => {
      const element = await openElement(dogs, infer ? { infer } : {})
      return runElement(element, [createStream(25).next([animal])])
    }
    await expect(run()).rejects.toThrow('the test has no answers of the model animals')
    await expect(run(createRecordedAnswers({ animals: [] }))).rejects.toThrow(
      'the test has only 0 answers of the model animals',
    )
  })
})
