import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { makeSound, makeVideo } from '../../../../test/fixtures/video.ts'
import { probeFile } from './file-probe.ts'

/** Often enough that threads which race each other do so in every order. */
const ROUNDS = 10

function makeCutOff(path: string) {
  makeVideo(path, { pattern: 'snow' })
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
}

test.each([
  ['without a picture', makeSound, 'there is no video in it'],
  ['cut off before its index', makeCutOff, 'This file contains no playable streams.'],
] as const)(
  'what is wrong with a file %s is told, whichever thread finds out first',
  async (_, make, reason) => {
    const path = join(temporaryFolder(), 'clip.mp4')
    make(path)
    const wrong = expect.objectContaining({ message: `${path} is no video that can be played: ${reason}` })
    for (let round = 0; round < ROUNDS; round++)
      await Promise.all([1, 2, 3].map(() => expect(probeFile(path)).rejects.toEqual(wrong)))
  },
)
