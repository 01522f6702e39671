import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { makeVideo } from '../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { parseSourceAddress } from './source-address.ts'

test.each([
  ['rtsp://user:secret@camera/stream', 'video'],
  ['RTSPS://camera/stream', 'video'],
  ['http://camera/video.mjpg?fps=5', 'video'],
  ['https://camera/live.mp4', 'video'],
  ['/dev/video0', 'video'],
  ['v4l2:///dev/video1', 'video'],
  ['test://ball', 'inf'],
])('%s becomes a source of type %s', (address, type) => {
  expect(parseSourceAddress(address)).toEqual({ source: { type, address }, folder: undefined })
})

test('a file becomes a looped source, and its folder becomes readable', () => {
  const folder = createTemporaryFolder()
  const path = join(folder, 'a clip.mp4')
  makeVideo(path)
  const source = { type: 'inf', address: pathToFileURL(path).href }
  for (const text of [path, source.address]) {
    expect(parseSourceAddress(text)).toEqual({ source, folder })
  }
})

test.each([
  ['/nowhere/clip.mp4', '/nowhere/clip.mp4 does not exist'],
  ['/tmp', '/tmp is not a file'],
  ['file:///50%.mp4', 'write %25 for a literal %'],
  ['file://camera/clip.mp4', 'names no local file'],
])('%s is rejected with the reason', (address, reason) => {
  expect(() => parseSourceAddress(address)).toThrow(`SOURCE=${address}: `)
  expect(() => parseSourceAddress(address)).toThrow(reason)
})

test('any other address is rejected with the accepted forms', () => {
  expect(() => parseSourceAddress('ftp://camera/stream')).toThrow(
    /write an rtsp:\/\/ address, an http:\/\/ address/,
  )
})

test('the error for a folder whose name contains a password does not contain the password', () => {
  const folder = join(createTemporaryFolder(), 'viewer:secret@camera')
  mkdirSync(folder)
  expect(() => parseSourceAddress(folder)).toThrow(/^SOURCE=(?!.*secret).*is not a file$/)
})

test.each([
  'ftp://viewer:secret@camera/stream',
  'rstp://viewer:se/cr@et@camera/stream',
  'rtsp:/viewer:secret@camera/stream',
  'rtsp//viewer:secret@camera/stream',
  'viewer:secret@camera/stream',
  'file://viewer:secret@camera/stream',
  'rstp://camera/stream?user=viewer&password=secret',
])('the error for %s does not contain the password', address => {
  expect(() => parseSourceAddress(address)).toThrow(/^SOURCE=(?!.*(secret|se\/cr|et@)).*\*\*\*/)
})
