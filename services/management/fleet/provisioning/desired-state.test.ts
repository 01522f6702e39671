import { describe, expect, it } from 'vitest'
import { findReferencedSources } from '../../inventory/source-keys.ts'
import { type StoredConfiguration, toDesiredPipelines, toDesiredSources } from './desired-state.ts'

const [A, B] = ['0198a000-0000-7000-8000-00000000000a', '0198a000-0000-7000-8000-00000000000b']
const lines = { lines: [] }
const location = {
  source_type: '',
  source_settings: {},
  source_fps: null,
  stream: null,
  sub_stream: null,
}
const stored: StoredConfiguration = {
  sources: [
    { ...location, source_id: A, source_name: 'door', source_address: 'rtsp://cam/1' },
    { ...location, source_id: B, source_name: 'nowhere', source_address: '' },
  ],
  pipelines: [
    {
      pipeline_id: 'p',
      pipeline_name: 'crossings',
      pipeline_usecase: 'line-crossing',
      engine_id: 'x',
      pipeline_settings: {},
      pipeline_elements: {
        elements: [
          {
            name: 'line-crossing',
            config: { [A]: lines, [`${A.toUpperCase()}, ${B}`]: lines, [B]: lines },
          },
          { name: 'zones', config: { zones: [], 4: 'unchanged' } },
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

describe('toDesiredSources', () => {
  it('separates sources without an address', () => {
    const { desired, withoutAddress } = toDesiredSources(stored)
    expect(desired).toMatchObject([
      { record_id: A, name: 'door', fields: { address: 'rtsp://cam/1' } },
    ])
    expect(withoutAddress).toMatchObject([{ record_id: B, name: 'nowhere' }])
  })
})

describe('toDesiredPipelines', () => {
  it("translates sources and config keys into the engine's ids", () => {
    const sids = new Map([
      [A, 9],
      [B, 4],
    ])
    const [pipeline] = toDesiredPipelines(stored, id => sids.get(id))
    expect(pipeline).toEqual({
      record_id: 'p',
      name: 'crossings',
      fields: {
        usecase: 'line-crossing',
        sources: [4, 9],
        elements: [
          { name: 'line-crossing', config: { 9: lines, '9,4': lines, 4: lines } },
          { name: 'zones', config: { zones: [], 4: 'unchanged' } },
        ],
      },
    })
  })

  it('leaves out sources that are not on the engine yet', () => {
    const [pipeline] = toDesiredPipelines(stored, id => (id === A ? 9 : undefined))
    expect(pipeline?.fields.sources).toEqual([9])
    expect(Object.keys(pipeline?.fields.elements[0]?.config ?? {})).toEqual(['9'])
  })
})

describe('findReferencedSources', () => {
  it('returns the sources that config keys refer to', () => {
    expect(findReferencedSources(stored.pipelines[0]!.pipeline_elements.elements)).toEqual([A, B])
  })
})
