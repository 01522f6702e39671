import { expect, it } from 'vitest'
import { capitalised, duration, fileSize, rate } from './format.ts'

it('gives a duration in its two largest units', () => {
  expect([0, 59, 61, 3_600, 93_784].map(duration)).toEqual([
    '0 s',
    '59 s',
    '1 min 1 s',
    '1 h 0 min',
    '1 d 2 h',
  ])
})

it('gives small rates with a digit after the point', () => {
  expect([0.5, 9.96, 10, 24.97].map(rate)).toEqual(['0.5', '10.0', '10', '25'])
})

it('gives the size of a file in a unit that suits it', () => {
  expect([999, 1_500, 12_000_000, 3.2e9, 7e12].map(fileSize)).toEqual([
    '999 B',
    '1.5 kB',
    '12 MB',
    '3.2 GB',
    '7000 GB',
  ])
})

it('begins a reason as a sentence, and leaves an address as it is', () => {
  expect(['frames are dropped', 'rtsp://door cannot be reached', 'Ready', ''].map(capitalised)).toEqual([
    'Frames are dropped',
    'rtsp://door cannot be reached',
    'Ready',
    '',
  ])
})
