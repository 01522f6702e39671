import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { makeVideo } from '../../test/fixtures/video.ts'
import { readAddress } from './address.ts'

test.each([
  ['rtsp://user:secret@camera/stream', 'video', 'gst_h264'],
  ['RTSPS://camera/stream', 'video', 'gst_h264'],
  ['http://camera/video.mjpg?fps=5', 'video', 'gst'],
  ['https://camera/live.mp4', 'video', 'gst'],
  ['/dev/video0', 'video', 'gst'],
  ['v4l2:///dev/video1', 'video', 'gst'],
  ['test://ball', 'inf', 'gst_h264'],
])('%s is a source of type %s, to be decoded by %s', (address, type, decoder) => {
  expect(readAddress(address)).toEqual({ source: { type, address, decoder }, folder: undefined })
})

test('a file is looped, and its folder may be read', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'a clip.mp4')
  makeVideo(path)
  const source = { type: 'inf', address: pathToFileURL(path).href, decoder: 'gst' }
  for (const written of [path, source.address]) expect(readAddress(written)).toEqual({ source, folder })
})

test.each([
  ['file:///50%.mp4', 'write %25 for the sign itself'],
  ['file://camera/clip.mp4', 'names no local file'],
])('%s is refused, with the reason', (address, reason) => {
  expect(() => readAddress(address)).toThrow(`SOURCE=${address}: `)
  expect(() => readAddress(address)).toThrow(reason)
})

test('anything else is refused, with what to write', () => {
  expect(() => readAddress('ftp://camera/stream')).toThrow(/write an rtsp:\/\/ address, an http:\/\/ address/)
})

test.each([
  'ftp://viewer:secret@camera/stream',
  'rstp://viewer:se/cr@et@camera/stream',
  'rtsp:/viewer:secret@camera/stream',
  'rtsp//viewer:secret@camera/stream',
  'viewer:secret@camera/stream',
  'file://viewer:secret@camera/stream',
  'rstp://camera/stream?user=viewer&password=secret',
])('%s is refused without its password', address => {
  expect(() => readAddress(address)).toThrow(/^SOURCE=(?!.*(secret|se\/cr|et@)).*\*\*\*/)
})
