import { onTestFinished } from 'vitest'
import { type Message, Pipeline, type Sample, type SampleOptions } from './index.ts'

type Typed<T extends Message['type']> = Extract<Message, { type: T }>

/** A pipeline that is disposed of after the test, and whose messages can be awaited. */
export interface Launched {
  pipeline: Pipeline
  messages: Message[]
  /** The first message of a type, those included that have come already. */
  message<T extends Message['type']>(type: T): Promise<Typed<T>>
}

export function launch(description: string): Launched {
  const messages: Message[] = []
  let heard = Promise.withResolvers<void>()
  const pipeline = new Pipeline(description, message => {
    messages.push(message)
    heard.resolve()
    heard = Promise.withResolvers()
  })
  onTestFinished(() => pipeline.dispose())

  return {
    pipeline,
    messages,
    async message(type) {
      for (;;) {
        const found = messages.find(message => message.type === type)
        if (found) return found as Typed<typeof type>
        await heard.promise
      }
    },
  }
}

/** Plays until the end of the stream, and answers what `of` made of every sample of the appsink named `sink`. */
export async function collect<T>(
  description: string,
  of: (sample: Sample) => T,
  options: SampleOptions = { queue: 4, full: 'block' },
): Promise<T[]> {
  const { pipeline, message } = launch(description)
  const collected: T[] = []
  pipeline.samples('sink', options, sample => {
    collected.push(of(sample))
    sample.release()
  })
  await pipeline.setState('playing')
  await message('eos')
  return collected
}

/** Looks again in every turn of the event loop until the condition holds, or throws after the deadline. */
export async function until(condition: () => boolean, what: string, deadlineMs = 10_000): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`)
    await new Promise(resolve => setImmediate(resolve))
  }
}
