import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { findDecoders } from '../../decode/decoders.ts'
import { type GstError, Pipeline } from '../../node-gst/index.ts'
import { createDeviceOrigin, openDevice } from './device-origin.ts'

const NOBODY = 65_534
const module = resolve(import.meta.dirname, 'device-origin.ts')

/** The message for a user without permission. */
function openUnprivileged(path: string): string {
  const script = `import(${JSON.stringify(module)}).then(({ openDevice }) => openDevice(process.argv[1])).catch(error => console.log(error.message))`
  const rights = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  return execFileSync(process.execPath, ['-e', script, path], {
    encoding: 'utf8',
    ...rights,
  }).trim()
}

describe('Video4Linux camera', () => {
  it.each([
    [
      'is not connected',
      () => '/dev/video987',
      /does not exist: connect the camera, or specify another device/,
    ],
    ['is another device', () => '/dev/null', /is not a camera: specify a Video4Linux device/],
    ['is a file', () => file(), /is not a camera/],
    ['is a folder', () => folder(), /is not a camera/],
  ])('is rejected with a reason if it %s', async (_, make, reason) => {
    const path = make()
    await expect(openDevice(path)).rejects.toMatchObject({ transient: true })
    await expect(openDevice(path)).rejects.toThrow(reason)
    await expect(openDevice(path)).rejects.toThrow(path)
  })

  it('is rejected without permission, with the group to join as a reason', () => {
    const path = file()
    chmodSync(path, 0o000)
    chmodSync(join(path, '..'), 0o755)
    expect(openUnprivileged(path)).toBe(
      `${path} is not accessible: add the service's user to the group video`,
    )
  })

  it('is opened by valid launch strings, which do not contain its path', async () => {
    const { elements, configure } = createDeviceOrigin('/dev/video987')
    for (const launch of Object.values(elements)) {
      const pipeline = new Pipeline(`${launch} ! fakesink`, () => {})
      onTestFinished(() => pipeline.dispose())
      expect(launch).not.toContain('/dev/')
      configure(pipeline)
      expect(pipeline.get('origin', 'device')).toBe('/dev/video987')
      await expect(pipeline.setState('playing')).rejects.toThrow(/video987/)
    }
  })

  it('sends raw pictures, which require no decoder', async () => {
    const decoders = await findDecoders()
    expect(decoders.elementsFor('gst', 'raw')).toEqual(['identity'])
    expect(decoders.elementsFor('ffmpeg', 'raw')).toEqual(['identity'])
    expect(decoders.elementsFor('gst_h264', 'raw')).toEqual(['identity'])
  })

  it('fails with a reason if another program uses it', () => {
    const busy = Object.assign(new Error('Device is busy'), {
      domain: 'gst-resource-error-quark',
      code: 4,
    })
    const fault = createDeviceOrigin('/dev/video0').explainError(busy as unknown as GstError)
    expect(fault).toMatchObject({
      message: '/dev/video0 is in use by another program: stop that program',
    })
  })
})

function file(): string {
  const path = join(createTemporaryFolder(), 'video0')
  writeFileSync(path, '')
  return path
}

function folder(): string {
  const path = join(createTemporaryFolder(), 'video0')
  mkdirSync(path)
  return path
}
