import { expect, test } from 'vitest'
import { namedSources } from '../../inventory/source-keys.ts'
import { type Stored, wantedPipelines, wantedSources } from './desired-state.ts'

const [A, B] = ['0198a000-0000-7000-8000-00000000000a', '0198a000-0000-7000-8000-00000000000b']
const lines = { lines: [] }
const place = { source_type: '', source_fps: null, stream: null }
const stored: Stored = {
  sources: [
    { ...place, source_id: A, source_name: 'door', source_address: 'rtsp://cam/1' },
    { ...place, source_id: B, source_name: 'nowhere', source_address: '' },
  ],
  pipelines: [
    {
      pipeline_id: 'p',
      pipeline_name: 'crossings',
      pipeline_usecase: 'line-crossing',
      pipeline_elements: {
        elements: [
          { name: 'line-crossing', config: { [A]: lines, [`${A.toUpperCase()}, ${B}`]: lines, [B]: lines } },
          { name: 'zones', config: { zones: [], 4: 'as it is' } },
        ],
      },
    },
  ],
  channels: [
    { channel_id: 'c', source_id: B, pipeline_id: 'p' },
    { channel_id: 'd', source_id: A, pipeline_id: 'p' },
    { channel_id: 'e', source_id: A, pipeline_id: 'q' },
  ],
}

test('sources without an address are told apart', () => {
  const { wanted, lacking } = wantedSources(stored)
  expect(wanted).toMatchObject([{ record_id: A, name: 'door', fields: { address: 'rtsp://cam/1' } }])
  expect(lacking).toMatchObject([{ record_id: B, name: 'nowhere' }])
})

test("pipelines have the engine's ids, in their sources and in the keys of their configs", () => {
  const sids = new Map([
    [A, 9],
    [B, 4],
  ])
  const [pipeline] = wantedPipelines(stored, id => sids.get(id))
  expect(pipeline).toEqual({
    record_id: 'p',
    name: 'crossings',
    fields: {
      usecase: 'line-crossing',
      sources: [4, 9],
      elements: [
        { name: 'line-crossing', config: { 9: lines, '9,4': lines, 4: lines } },
        { name: 'zones', config: { zones: [], 4: 'as it is' } },
      ],
    },
  })
})

test('what the engine does not have yet is left out', () => {
  const [pipeline] = wantedPipelines(stored, id => (id === A ? 9 : undefined))
  expect(pipeline?.fields.sources).toEqual([9])
  expect(Object.keys(pipeline?.fields.elements[0]?.config ?? {})).toEqual(['9'])
})

test('the sources that configs name are known', () => {
  expect(namedSources(stored.pipelines[0]!.pipeline_elements.elements)).toEqual([A, B])
})
