import { type Capabilities, capabilities } from '@eyrie/contract/plugin'
import { describe, expect, it } from 'vitest'
import {
  type ElementRequest,
  findNewCapabilities,
  formatRequested,
} from './requested-capabilities.ts'

/** An element that declares its capabilities, with a budget unless it is specified. */
const declared = (fields: Partial<Capabilities> = {}): ElementRequest => ({
  readsPictures: fields.frames !== undefined,
  capabilities: capabilities.parse({ budget_ms: 1, ...fields }),
})
const undeclared: ElementRequest = { readsPictures: false }
const undeclaredWithPictures: ElementRequest = { readsPictures: true }

const frames = (format: 'RGB' | 'JPEG' | 'GRAY8', width: number, height: number) => ({
  frames: { format, width, height },
})
const server = 'api.example.com:443'
const other = 'api.example.com:8443'

/** What the element `crowd` asks for beyond what it was granted. */
const compare = (granted: ElementRequest | undefined, requested: ElementRequest) =>
  findNewCapabilities({ crowd: requested }, granted ? [{ crowd: granted }] : []).map(
    ({ description }) => description,
  )

describe('a version asks for nothing new', () => {
  it.each<[string, ElementRequest, ElementRequest]>([
    [
      'if nothing has changed',
      declared(frames('RGB', 640, 360)),
      declared(frames('RGB', 640, 360)),
    ],
    ['with smaller pictures', declared(frames('RGB', 640, 360)), declared(frames('RGB', 320, 360))],
    [
      'with another colour format',
      declared(frames('RGB', 640, 360)),
      declared(frames('JPEG', 640, 360)),
    ],
    [
      'with grey instead of colours',
      declared(frames('RGB', 640, 360)),
      declared(frames('GRAY8', 640, 360)),
    ],
    ['without the pictures', declared(frames('RGB', 640, 360)), declared()],
    ['with a size if it had none', undeclaredWithPictures, declared(frames('RGB', 8192, 8192))],
    ['with fewer servers', declared({ network: [server, other] }), declared({ network: [other] })],
    ['with less storage', declared({ storage_bytes: 2000 }), declared({ storage_bytes: 1000 })],
    ['without storage', declared({ storage_bytes: 2000 }), declared()],
    ['with a smaller budget', declared({ budget_ms: 8 }), declared({ budget_ms: 2.5 })],
    [
      'with a budget if it had none',
      declared({ budget_ms: undefined }),
      declared({ budget_ms: 1000 }),
    ],
    [
      'with fewer events and counters',
      declared({ events: { crowd: {}, fall: {} }, counters: ['up', 'down'] }),
      declared({ events: { fall: {} }, counters: ['up'] }),
    ],
    [
      'with other fields of an event',
      declared({ events: { crowd: { count: 'number' } } }),
      declared({ events: { crowd: { count: 'any', plate: 'string' } } }),
    ],
    ['if neither declares capabilities', undeclared, undeclared],
    ['if it declares events for the first time', undeclared, declared({ events: { crowd: {} } })],
  ])('%s', (_, granted, requested) => {
    expect(compare(granted, requested)).toEqual([])
  })
})

describe('a version asks for more', () => {
  it.each<[string, ElementRequest, ElementRequest, string]>([
    [
      'with pictures',
      declared(),
      declared(frames('RGB', 640, 360)),
      'reads pictures (RGB, up to 640×360)',
    ],
    ['with pictures of any size', undeclared, undeclaredWithPictures, 'reads pictures of any size'],
    [
      'with pictures of a size',
      undeclared,
      declared(frames('JPEG', 64, 36)),
      'reads pictures (JPEG, up to 64×36)',
    ],
    [
      'with wider pictures',
      declared(frames('RGB', 640, 360)),
      declared(frames('RGB', 641, 100)),
      'reads pictures (RGB, up to 641×100), granted: pictures (RGB, up to 640×360)',
    ],
    [
      'with higher pictures',
      declared(frames('RGB', 640, 360)),
      declared(frames('RGB', 100, 361)),
      'reads pictures (RGB, up to 100×361), granted: pictures (RGB, up to 640×360)',
    ],
    [
      'with colours instead of grey',
      declared(frames('GRAY8', 640, 360)),
      declared(frames('RGB', 640, 360)),
      'reads pictures (RGB, up to 640×360), granted: pictures (GRAY8, up to 640×360)',
    ],
    [
      'with another port',
      declared({ network: [server] }),
      declared({ network: [server, other] }),
      `sends requests to ${other}`,
    ],
    ['with a server', undeclared, declared({ network: [server] }), `sends requests to ${server}`],
    [
      'with storage',
      declared(),
      declared({ storage_bytes: 2e6 }),
      'stores up to 2.0 MB on each channel',
    ],
    [
      'with more storage',
      declared({ storage_bytes: 1e6 }),
      declared({ storage_bytes: 2e6 }),
      'stores up to 2.0 MB on each channel, granted: 1.0 MB',
    ],
    [
      'with a larger budget',
      declared({ budget_ms: 8 }),
      declared({ budget_ms: 12 }),
      'uses up to 12 ms of CPU time per frame, granted: 8 ms',
    ],
    [
      'without a budget',
      declared({ budget_ms: 8 }),
      declared({ budget_ms: undefined }),
      'uses any CPU time per frame, granted: 8 ms',
    ],
    [
      'with other events',
      declared({ events: { crowd: {} } }),
      declared({ events: { crowd: {}, fall: {}, fire: {} } }),
      'reports the events fall, fire',
    ],
    [
      'with other counters',
      declared({ counters: ['up'] }),
      declared({ counters: ['down'] }),
      'counts down',
    ],
  ])('%s', (_, granted, requested, description) => {
    expect(compare(granted, requested)).toEqual([description])
  })

  it('if it no longer declares its capabilities', () => {
    expect(compare(declared({ counters: ['up'] }), undeclared)).toEqual([
      'uses any CPU time per frame, granted: 1 ms',
      'reports any events and counters',
    ])
  })
})

describe('the capabilities of a plugin', () => {
  const full = declared({
    ...frames('RGB', 640, 360),
    network: [server],
    storage_bytes: 1e6,
    budget_ms: 8,
    events: { crowd: {} },
    counters: ['up'],
  })

  it('are all new if nothing was granted', () => {
    expect(findNewCapabilities({ crowd: full }, [])).toEqual([
      {
        element: 'crowd',
        capability: 'frames',
        description: 'reads pictures (RGB, up to 640×360)',
      },
      { element: 'crowd', capability: 'network', description: `sends requests to ${server}` },
      {
        element: 'crowd',
        capability: 'storage_bytes',
        description: 'stores up to 1.0 MB on each channel',
      },
      {
        element: 'crowd',
        capability: 'budget_ms',
        description: 'uses up to 8 ms of CPU time per frame',
      },
      { element: 'crowd', capability: 'events', description: 'reports the events crowd' },
      { element: 'crowd', capability: 'counters', description: 'counts up' },
    ])
    expect(compare(undefined, undeclaredWithPictures)).toEqual([
      'reads pictures of any size',
      'uses any CPU time per frame',
      'reports any events and counters',
    ])
  })

  it('pass between elements only as far as they concern the plugin as a whole', () => {
    const found = findNewCapabilities({ gate: full }, [{ crowd: full }])
    expect(found.map(({ capability }) => capability)).toEqual([
      'frames',
      'network',
      'storage_bytes',
    ])
    expect(findNewCapabilities({ gate: undeclared }, [{ crowd: undeclared }])).toEqual([])
    // Otherwise an element that reads pictures and one that sends requests could
    // become one that does both.
    const separate = {
      crowd: declared(frames('RGB', 640, 360)),
      upload: declared({ network: [server] }),
    }
    const both = declared({ ...frames('RGB', 640, 360), network: [server] })
    expect(formatRequested(findNewCapabilities({ ...separate, crowd: both }, [separate]))).toBe(
      `crowd sends requests to ${server}`,
    )
  })

  it('remain granted to later versions', () => {
    const grants = [
      { crowd: declared({ network: [server] }) },
      { crowd: declared({ network: [other] }) },
    ]
    expect(findNewCapabilities({ crowd: declared({ network: [server, other] }) }, grants)).toEqual(
      [],
    )
  })

  it('are not found under names of object members', () => {
    expect(
      findNewCapabilities({ constructor: undeclaredWithPictures }, [{ crowd: undeclared }]),
    ).toHaveLength(1)
  })
})
