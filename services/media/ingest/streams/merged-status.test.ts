import type { SourceState, SourceStatus } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { mergeStatus, selectAnalysed } from './merged-status.ts'

const status = (state: SourceState, fields: Partial<SourceStatus> = {}): SourceStatus => ({
  id: 1,
  state,
  ...(state === 'reconnecting' && { reason: 'camera cannot be reached', attempts: 2 }),
  ...fields,
})

describe('analysed stream', () => {
  it.each<[main: SourceState, sub: SourceState, current: 'main' | 'sub', selected: 'main' | 'sub']>(
    [
      ['running', 'running', 'sub', 'sub'],
      ['running', 'connecting', 'sub', 'sub'],
      ['running', 'reconnecting', 'sub', 'main'],
      ['running', 'reconnecting', 'main', 'main'],
      ['running', 'running', 'main', 'sub'],
      ['reconnecting', 'running', 'sub', 'sub'],
      ['reconnecting', 'running', 'main', 'sub'],
      ['reconnecting', 'reconnecting', 'sub', 'sub'],
      ['reconnecting', 'reconnecting', 'main', 'main'],
    ],
  )(
    'with the main stream %s, the sub stream %s and %s analysed so far, is %s',
    (main, sub, current, selected) => {
      expect(selectAnalysed({ main: status(main), sub: status(sub) }, current)).toBe(selected)
    },
  )
})

describe('status of a source with a sub stream', () => {
  const size = { width: 1920, height: 1080, codec: 'h265' }
  const smallSize = { width: 640, height: 360, codec: 'h264' }

  it('has the size of the main stream, and describes the sub stream', () => {
    const main = status('running', { ...size, decoder: 'none' })
    const sub = status('running', { ...smallSize, decoder: 'avdec_h264' })
    expect(mergeStatus({ main, sub }, 'sub')).toMatchObject({
      state: 'running',
      ...size,
      decoder: 'avdec_h264',
      sub: { analysed: true, state: 'running', ...smallSize },
    })
  })

  it('is running with the reason while only the sub stream is lost', () => {
    const merged = mergeStatus({ main: status('running'), sub: status('reconnecting') }, 'main')
    expect(merged).toMatchObject({
      state: 'running',
      reason: 'the sub stream is lost, so the main stream is analysed: camera cannot be reached',
      sub: { analysed: false, state: 'reconnecting' },
    })
    expect(merged.attempts).toBeUndefined()
  })

  it('is running with the consequences while only the main stream is lost', () => {
    expect(
      mergeStatus({ main: status('reconnecting'), sub: status('running') }, 'sub'),
    ).toMatchObject({
      state: 'running',
      attempts: undefined,
      reason:
        'the main stream is lost, so full live views and recordings are interrupted: camera cannot be reached',
    })
  })

  it('is lost while both streams are lost', () => {
    expect(
      mergeStatus({ main: status('reconnecting'), sub: status('reconnecting') }, 'sub'),
    ).toMatchObject({
      state: 'reconnecting',
      attempts: 2,
      reason: 'camera cannot be reached; sub stream: camera cannot be reached',
    })
  })
})
