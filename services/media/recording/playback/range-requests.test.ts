import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { recordedSegmentList } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../../../../test/fixtures/browser/browser.ts'
import { numberedShape } from '../../../../test/fixtures/media/numbered-video.ts'
import {
  listRecordings,
  openNumberedRecording,
  waitForRecordedSeconds,
} from '../../../../test/fixtures/media/recorded-stream.ts'
import { shared } from '../../../../test/fixtures/setup/shared.ts'

const TIMEOUT = { timeout: 120_000 }

/** A finished recording, with the addresses of its clip and its first file. */
async function record() {
  const { media, control, source } = await openNumberedRecording()
  await waitForRecordedSeconds(media, 6)
  const { recording: _, ...unrecorded } = source
  await control.apply(unrecorded)
  await vi.waitFor(async () => expect((await listRecordings(media))[0]?.state).toBe('off'))
  const segments = async () =>
    recordedSegmentList.parse(await (await fetch(`${media.url}/recordings/1/segments`)).json())
      .segments
  await vi.waitFor(async () => expect((await segments()).every(({ open }) => !open)).toBe(true))
  const [first] = await segments()
  return {
    media,
    clip: `${media.url}/recordings/1/clip.mp4?from=${first!.from}&to=${(await listRecordings(media))[0]!.last}`,
    file: `${media.url}/recordings/1/segments/${first!.name}`,
  }
}

const recorded = shared(record, ({ media }) => media.remove())

const fetchRange = (url: string, range: string, more: Record<string, string> = {}) =>
  fetch(url, { headers: { Range: range, ...more } })

describe('range requests', () => {
  it.each(['clip', 'file'] as const)('serves any range of a %s', TIMEOUT, async kind => {
    const url = recorded[kind]
    const whole = await fetch(url)
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect([whole.status, whole.headers.get('Accept-Ranges')]).toEqual([200, 'bytes'])
    expect(Number(whole.headers.get('Content-Length'))).toBe(bytes.length)
    const etag = whole.headers.get('ETag')!

    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('Content-Length'), head.headers.get('ETag')]).toEqual([
      200,
      String(bytes.length),
      etag,
    ])
    expect((await head.arrayBuffer()).byteLength).toBe(0)

    const { length } = bytes
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=0-', 0, length],
      ['bytes=100-299', 100, 300],
      [`bytes=${length - 5}-`, length - 5, length],
      ['bytes=-7', length - 7, length],
      [`bytes=-${length + 9}`, 0, length],
      [`bytes=1000-${length + 9}`, 1000, length],
    ] as const) {
      const answer = await fetchRange(url, range)
      expect([answer.status, answer.headers.get('Content-Range')], range).toEqual([
        206,
        `bytes ${from}-${to - 1}/${length}`,
      ])
      const received = Buffer.from(await answer.arrayBuffer())
      expect(received.equals(bytes.subarray(from, to)), range).toBe(true)
    }

    for (const range of [`bytes=${length}-`, `bytes=${length + 1}-${length + 5}`, 'bytes=-0']) {
      const answer = await fetchRange(url, range)
      expect([answer.status, answer.headers.get('Content-Range')], range).toEqual([
        416,
        `bytes */${length}`,
      ])
      expect(await answer.json()).toMatchObject({
        code: 'syntax',
        reason: expect.stringContaining(`${length}`),
      })
    }

    // Invalid and multiple ranges, and ranges of another content, return the whole content.
    for (const range of ['bytes=9-3', 'bytes=a-b', 'pictures=1-2', 'bytes=0-1,5-6']) {
      expect((await fetchRange(url, range)).status, range).toBe(200)
    }
    expect((await fetchRange(url, 'bytes=0-9', { 'If-Range': etag })).status).toBe(206)
    expect((await fetchRange(url, 'bytes=0-9', { 'If-Range': '"of another"' })).status).toBe(200)
  })

  it('declares that a playback supports no ranges', TIMEOUT, async () => {
    const { media } = recorded
    const url = `${media.url}/recordings/1`
    const whole = await fetch(url)
    expect(whole.headers.get('Accept-Ranges')).toBe('none')
    const bytes = Buffer.from(await whole.arrayBuffer())
    const asked = await fetchRange(url, 'bytes=1000-')
    expect(asked.status).toBe(200)
    expect(Buffer.from(await asked.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('creates a clip of everything recorded by default', TIMEOUT, async () => {
    const { media, clip } = recorded
    const bytes = async (url: string) =>
      Number((await fetch(url, { method: 'HEAD' })).headers.get('Content-Length'))
    expect(await bytes(`${media.url}/recordings/1/clip.mp4`)).toBeGreaterThanOrEqual(
      await bytes(clip),
    )
  })

  it('responds with 404 to unknown and malicious file names', TIMEOUT, async () => {
    const { file } = recorded
    for (const name of ['no.mp4', '..%2findex.db', '..%2f..%2feyrie.json', '%2fetc%2fpasswd']) {
      expect((await fetch(file.replace(/[^/]*$/, name))).status, name).toBe(404)
    }
  })

  it('lets FFmpeg and Chromium seek in a clip', TIMEOUT, async () => {
    const { clip, media } = recorded
    const { width, height } = numberedShape
    const output = ['-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-']
    const { stdout } = await promisify(execFile)(
      'ffmpeg',
      ['-v', 'error', '-ss', '3', '-i', clip, ...output],
      {
        encoding: 'buffer',
      },
    )
    expect(stdout).toHaveLength(width * height)

    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const asked: (string | undefined)[] = []
    page.on('request', request => {
      if (request.url().includes('clip.mp4')) asked.push(request.headers().range)
    })
    await page.goto(`${media.url}/health`)
    const reached = await page.evaluate<number>(`new Promise((resolve, reject) => {
      const video = document.createElement('video')
      video.onerror = () => reject(video.error)
      video.onloadedmetadata = () => { video.currentTime = 4 }
      video.onseeked = () => resolve(video.currentTime)
      video.src = ${JSON.stringify(clip)}
    })`)
    expect(reached).toBe(4)
    expect(asked.length).toBeGreaterThan(0)
  })
})
