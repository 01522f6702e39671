import type { PipelineElement } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { readLines, replaceLines, toDeployedElement } from './line-config.ts'

const line = (name: string) => ({
  name,
  coords: [
    { x: 0, y: 0.5 },
    { x: 1, y: 0.5 },
  ],
})
const infer = { name: 'infer', args: { model: 'detector' } }
const createElements = (config?: PipelineElement['config']): PipelineElement[] => [
  infer,
  { name: 'line-crossing', args: { history: 20 }, config },
]

describe('lines of a pipeline', () => {
  it('are read from all keys that list the source', () => {
    const elements = createElements({
      '1, 2': { lines: [line('door')] },
      1: { lines: [line('gate')] },
      3: { lines: [line('yard')] },
    })
    expect(readLines(elements, 1)).toEqual([line('gate'), line('door')])
    expect(readLines(elements, 4)).toEqual([])
    expect(readLines(createElements(), 1)).toEqual([])
    expect(readLines([infer], 1)).toBeUndefined()
  })

  it('are replaced for one source only', () => {
    const elements = createElements({
      '1,2': { lines: [line('door')] },
      1: { lines: [line('gate')] },
    })
    const replaced = replaceLines(elements, 1, [line('path')])
    expect(replaced).toEqual([
      infer,
      {
        name: 'line-crossing',
        args: { history: 20 },
        config: { 1: { lines: [line('path')] }, 2: { lines: [line('door')] } },
      },
    ])
    expect(readLines(replaced, 2)).toEqual([line('door')])
  })

  it('are added to an element without a config', () => {
    const replaced = replaceLines(createElements(), 7, [line('path')])
    expect(readLines(replaced, 7)).toEqual([line('path')])
  })

  it('are keyed by the position of the source in a file to deploy', () => {
    const [, element] = createElements({
      '5,3': { lines: [line('door')] },
      9: { lines: [line('old')] },
    })
    expect(toDeployedElement(element!, [3, 5])).toMatchObject({
      config: { '1,0': { lines: [line('door')] } },
    })
  })
})
