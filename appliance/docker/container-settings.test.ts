import { describe, expect, it } from 'vitest'
import { addPublishedAddress } from './container-settings.ts'

const published = { address: '192.0.2.10', announced: '', port: 40_000 }

describe('addPublishedAddress', () => {
  it('adds the address and the port that compose.yaml publishes', () => {
    const settings = { engine: { pacing: 'all' }, media: { snapshot_s: 1 } }
    expect(addPublishedAddress(settings, published)).toEqual({
      engine: { pacing: 'all' },
      media: {
        snapshot_s: 1,
        webrtc: { ports: { min: 40_000, max: 40_000 }, announced: ['192.0.2.10'] },
      },
    })
  })

  it('prefers what the settings say', () => {
    const webrtc = { announced: ['box.example.com'], enabled: false }
    expect(addPublishedAddress({ media: { webrtc } }, published)).toMatchObject({
      media: { webrtc },
    })
  })

  it('announces other addresses', () => {
    const settings = addPublishedAddress({}, { ...published, announced: 'a.example, b.example' })
    expect(settings).toMatchObject({ media: { webrtc: { announced: ['a.example', 'b.example'] } } })
  })

  it('announces an IPv6 address without the brackets that Compose needs', () => {
    const settings = addPublishedAddress({}, { ...published, address: '[2001:db8::10]' })
    expect(settings).toMatchObject({ media: { webrtc: { announced: ['2001:db8::10'] } } })
  })

  it.each(['0.0.0.0', '[::]'])('rejects the address %s, which browsers cannot reach', address => {
    expect(() => addPublishedAddress({}, { ...published, address })).toThrow(
      'set EYRIE_ANNOUNCED in .env to the address of this machine',
    )
  })
})
