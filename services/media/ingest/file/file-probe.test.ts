import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeSound, makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { probeFile } from './file-probe.ts'

/** Enough for racing threads to finish in every order. */
const ROUNDS = 10

function makeCutOff(path: string) {
  makeVideo(path, { pattern: 'snow' })
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length / 2))
}

it.each([
  ['without a picture', makeSound, 'it contains no video'],
  ['cut off before its index', makeCutOff, 'This file contains no playable streams.'],
] as const)(
  'the probe of a file %s fails with a reason, regardless of thread timing',
  async (_, make, reason) => {
    const path = join(createTemporaryFolder(), 'clip.mp4')
    make(path)
    const wrong = expect.objectContaining({ message: `${path} is not a playable video: ${reason}` })
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([1, 2, 3].map(() => expect(probeFile(path)).rejects.toEqual(wrong)))
    }
  },
)
