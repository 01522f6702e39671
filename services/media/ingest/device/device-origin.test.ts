import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { findDecoders } from '../../decode/decoders.ts'
import { type GstError, Pipeline } from '../../node-gst/index.ts'
import { deviceOrigin, openDevice } from './device-origin.ts'

const NOBODY = 65_534
const module = resolve(import.meta.dirname, 'device-origin.ts')

/** What a user without rights is told. */
function openAsNobody(path: string): string {
  const script = `import(${JSON.stringify(module)}).then(({ openDevice }) => openDevice(process.argv[1])).catch(error => console.log(error.message))`
  const rights = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  return execFileSync(process.execPath, ['-e', script, path], { encoding: 'utf8', ...rights }).trim()
}

describe('a camera of this machine', () => {
  test.each([
    [
      'is not plugged in',
      () => '/dev/video987',
      /does not exist: plug the camera in, or name another device/,
    ],
    ['is another device', () => '/dev/null', /is no camera: name a device of Video4Linux/],
    ['is a file', () => file(), /is no camera/],
    ['is a folder', () => folder(), /is no camera/],
  ])('that %s is told of', async (_, make, reason) => {
    const path = make()
    await expect(openDevice(path)).rejects.toMatchObject({ transient: true })
    await expect(openDevice(path)).rejects.toThrow(reason)
    await expect(openDevice(path)).rejects.toThrow(path)
  })

  test('that may not be used is told of, with what helps', () => {
    const path = file()
    chmodSync(path, 0o000)
    chmodSync(join(path, '..'), 0o755)
    expect(openAsNobody(path)).toBe(
      `${path} may not be used: put the service into the group video, which may`,
    )
  })

  test('is taken by pipelines that GStreamer can make, with its path as a property', async () => {
    const { elements, configure } = deviceOrigin('/dev/video987')
    for (const launch of Object.values(elements)) {
      const pipeline = new Pipeline(`${launch} ! fakesink`, () => {})
      onTestFinished(() => pipeline.dispose())
      expect(launch).not.toContain('/dev/')
      configure(pipeline)
      expect(pipeline.get('origin', 'device')).toBe('/dev/video987')
      await expect(pipeline.setState('playing')).rejects.toThrow(/video987/)
    }
  })

  test('may send raw pictures, which need no decoder', async () => {
    const decoders = await findDecoders()
    expect(decoders.of('gst', 'raw')).toEqual(['identity'])
    expect(decoders.of('ffmpeg', 'raw')).toEqual(['identity'])
    expect(decoders.of('gst_h264', 'raw')).toEqual([])
  })

  test('that another program uses is told of', () => {
    const busy = Object.assign(new Error('Device is busy'), { domain: 'gst-resource-error-quark', code: 4 })
    const fault = deviceOrigin('/dev/video0').fault(busy as unknown as GstError)
    expect(fault).toMatchObject({
      message: '/dev/video0 is in use by another program: end that one',
    })
  })
})

function file(): string {
  const path = join(temporaryFolder(), 'video0')
  writeFileSync(path, '')
  return path
}

function folder(): string {
  const path = join(temporaryFolder(), 'video0')
  mkdirSync(path)
  return path
}
