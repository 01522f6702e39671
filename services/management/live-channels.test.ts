import { expect, it } from 'vitest'
import { sourceName } from './live-channels.ts'

it.each([
  ['/data/media/town square.mp4', 'town square.mp4'],
  ['file:///data/media/town%20square.mp4', 'town square.mp4'],
  ['rtsp://admin:secret@10.0.0.7:554/cam/1?channel=2', '10.0.0.7:554/cam/1'],
  ['test://ball', 'ball'],
])('calls a source at %s "%s"', (address, name) => {
  expect(sourceName(address)).toBe(name)
  expect(sourceName({ url: address })).toBe(name)
})
