import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineElement, z } from '../index.ts'
import { createStream, openElement, runElement } from './test-kit.ts'

afterEach(() => void vi.unstubAllEnvs())

/** A program that answers all requests until it is asked to run a model, and ends then. */
const CRASHING_HOST = `
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, type } = JSON.parse(line)
  if (type === 'infer') process.exit(1)
  console.log(JSON.stringify({ id }))
})`

describe('a test with real models', () => {
  it('fails with the reason after the program that runs models has ended', async () => {
    vi.stubEnv('EYRIE_MODEL_HOST', JSON.stringify([process.execPath, '-e', CRASHING_HOST]))
    const faces = defineElement({
      args: z.strictObject({}),
      process: async (_, { infer }) => ({ objects: [...(await infer('faces')).objects] }),
    })
    const element = await openElement(faces, { models: 'real' })
    const { next } = createStream(10)
    await expect(runElement(element, [next()])).rejects.toThrow('has ended')
    await expect(runElement(element, [next()])).rejects.toThrow('has ended')
  })
})
