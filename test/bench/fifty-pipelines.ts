import type { Client } from '@eyrie/client'
import type { Configuration } from '@eyrie/contract'

export const PIPELINES = 50
const SOURCES = 10

/** The config of a line-crossing element with one line across the picture. */
export const lineNamed = (name: string) => ({
  lines: [
    {
      name,
      coords: [
        { x: 0, y: 0.5 },
        { x: 1, y: 0.5 },
      ],
    },
  ],
})

/**
 * Deploys fifty pipelines that track and count, five on each of ten sources. `source`
 * describes one of the ten.
 */
export function deployFifty(
  engine: Client,
  source: (index: number) => { type: 'video' | 'inf'; address: string; rate?: number },
): Promise<Configuration> {
  return engine.deploy(
    Array.from({ length: PIPELINES }, (_, index) => ({
      sources: [source(index % SOURCES)],
      sinks: [{ type: 'inf', address: `inf://nothing/${index % SOURCES}` }],
      elements: [
        { name: 'object-tracking', args: { max_age: 10 + index } },
        { name: 'line-crossing', config: { '0': lineNamed('door') } },
      ],
      usecase: `pipeline ${index}`,
    })),
  )
}
