import { createClient, type Transport } from '@eyrie/client'
import { sourceInput } from '@eyrie/contract'
import { manifestElement } from '@eyrie/contract/plugin'
import { describe, expect, it } from 'vitest'
import { preparePipeline } from './dev-pipeline.ts'

const element = manifestElement.parse({
  name: 'gate',
  title: 'Gate',
  description: 'Counts people',
  runs: 'worker',
  passthrough: false,
  needs: ['pixels'],
  params_schema: {},
  config_schema: {},
  input_schema: {},
  output_schema: {},
})

/** An engine that creates records with the id 7, and fails to list its channels. */
function createFailingEngine() {
  const removed: string[] = []
  const transport: Transport = {
    async fetch(url, { method }) {
      const { pathname } = new URL(url)
      if (method === 'POST') return Response.json({ id: 7 }, { status: 201 })
      if (method === 'GET') return Response.json({}, { status: 500 })
      removed.push(pathname)
      return new Response(null, { status: 204 })
    },
  }
  return { removed, engine: createClient({ url: 'http://engine', transport }) }
}

describe('the pipeline of eyrie plugin dev', () => {
  it('is removed, and then its new source, if its channel cannot be read', async () => {
    const { removed, engine } = createFailingEngine()
    const source = sourceInput.parse({ type: 'inf', address: 'rtsp://camera/door' })
    const request = { element, source, args: undefined, config: undefined }
    await expect(preparePipeline(engine, request)).rejects.toThrow()
    expect(removed).toEqual(['/api/v3/pipelines/7', '/api/v3/sources/7'])
  })
})
