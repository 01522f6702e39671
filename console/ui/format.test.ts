import { describe, expect, it } from 'vitest'
import { capitalize, formatDuration, formatFigure, formatFileSize } from './format.ts'

describe('formatting', () => {
  it('writes a duration in its two largest units', () => {
    expect([0, 59, 61, 3_600, 93_784].map(formatDuration)).toEqual([
      '0 s',
      '59 s',
      '1 min 1 s',
      '1 h 0 min',
      '1 d 2 h',
    ])
  })

  it('writes figures below ten with one decimal', () => {
    expect([0.5, 9.96, 10, 24.97].map(formatFigure)).toEqual(['0.5', '10.0', '10', '25'])
  })

  it('writes a file size in the largest unit up to GB', () => {
    expect([999, 1_500, 999_950, 12_000_000, 3.2e9, 7e12].map(formatFileSize)).toEqual([
      '999 B',
      '1.5 kB',
      '1.0 MB',
      '12 MB',
      '3.2 GB',
      '7000 GB',
    ])
  })

  it('capitalizes a reason unless it begins with a URL', () => {
    expect(
      ['frames are dropped', 'rtsp://door cannot be reached', 'Ready', ''].map(capitalize),
    ).toEqual(['Frames are dropped', 'rtsp://door cannot be reached', 'Ready', ''])
  })
})
