import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { onTestFinished } from 'vitest'
import { cameraEgress } from '../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { findDecoders } from '../decode/decoders.ts'
import { createRingFolder } from '../decode/ring-folder.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Source } from '../sources/source.ts'
import { createEncoders } from '../transcode/encoders.ts'
import { createCrashSuspects } from './crash-suspects.ts'
import { createPipelineSource, type PipelineSourceOptions } from './pipeline-source.ts'

interface PlayOptions extends Partial<Pick<PipelineSourceOptions, 'decoders' | 'listener'>> {
  type: 'file' | 'inf' | 'video'
  url: string
  decoder?: 'gst' | 'gst_h264'
}

/** Plays a source until the end of the test, by default with the decoders of this machine. */
export async function playSource({
  type,
  url,
  decoder = 'gst',
  decoders,
  listener,
}: PlayOptions): Promise<Source> {
  const epoch = Date.now()
  const rings = createRingFolder(join(createTemporaryFolder(), 'rings'), epoch)
  await rings.open()
  const log = createLog('media', 'silent')
  const suspects = createCrashSuspects(createTemporaryFolder(), systemClock, log)
  suspects.load()
  const source = createPipelineSource({
    identity: { id: 1, type, address: { url }, decoder, pacing: 'realtime' },
    epoch,
    beginPts: 0,
    mediaRoots: [tmpdir()],
    egress: cameraEgress,
    rings,
    decoders: decoders ?? (await findDecoders()),
    suspects,
    encoders: createEncoders(),
    clock: systemClock,
    random: Math.random,
    log,
    listener: listener ?? { onStatus() {}, onView() {}, onViewFailed() {}, onFrame() {} },
  })
  onTestFinished(() => source.stop())
  return source
}
