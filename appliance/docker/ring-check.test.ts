import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { countConfiguredChannels, describeRingProblem, parseSize } from './ring-check.ts'

const MIB = 1 << 20
const enough = { channels: 16, bytes: 160 * MIB, configuredChannels: 16, mediaBytes: 2048 * MIB }

describe('describeRingProblem', () => {
  it('accepts a volume of the planned size', () => {
    expect(describeRingProblem(enough)).toBeUndefined()
  })

  it.each([
    [
      { configuredChannels: 17 },
      /17 channels are configured.*EYRIE_CHANNELS=17 or more.*docker volume rm/,
    ],
    [{ channels: 32 }, /has 167\.8 MB, and EYRIE_CHANNELS=32 needs 335\.5 MB: .*docker volume rm/],
    [{ mediaBytes: 512 * MIB }, /EYRIE_CHANNELS=16 needs 704\.6 MB: set EYRIE_MEDIA_MEMORY=672m/],
  ])('names what to change for %o', (change, problem) => {
    expect(describeRingProblem({ ...enough, ...change })).toMatch(problem)
  })
})

describe('countConfiguredChannels', () => {
  function createDataFolder(configuration?: string): string {
    const data = createTemporaryFolder()
    mkdirSync(join(data, 'engine'))
    if (configuration !== undefined) {
      writeFileSync(join(data, 'engine/configuration.json'), configuration)
    }
    return data
  }

  it('counts the sources of all pipelines', () => {
    const pipelines = [
      { id: 1, sources: [1, 2] },
      { id: 2, sources: [2] },
    ]
    expect(
      countConfiguredChannels(createDataFolder(JSON.stringify({ version: 2, pipelines }))),
    ).toBe(3)
  })

  it.each([
    ['a missing configuration', undefined],
    ['a damaged configuration', '{"pipelines": ['],
  ])('returns 0 for %s', (_, configuration) => {
    expect(countConfiguredChannels(createDataFolder(configuration))).toBe(0)
  })
})

describe('parseSize', () => {
  it.each([
    ['2g', 2048 * MIB],
    ['512M', 512 * MIB],
    ['1024', 1024],
    ['64kb', 65_536],
  ])('reads %s', (text, bytes) => {
    expect(parseSize('X', text)).toBe(bytes)
  })

  it('names the variable that is not valid', () => {
    expect(() => parseSize('EYRIE_MEDIA_MEMORY', 'much')).toThrow(
      /EYRIE_MEDIA_MEMORY is not valid.*not much/,
    )
  })
})
