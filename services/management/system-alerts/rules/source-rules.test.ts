import type { SourceCondition } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import type { PictureReference } from './picture-rules.ts'
import { observeSource } from './source-rules.ts'

const subject = { key: 'door', name: 'Door', engine_id: 'e', source_id: 'door' }
const thresholds = {
  black_brightness: 24,
  frozen_s: 60,
  sharpness_percent: 40,
  similarity_percent: 40,
  frame_rate_percent: 80,
  disk_free_percent: 3,
  clock_s: 5,
  ending_days: 21,
  backup_days: 8,
}
/** A signature of the scene in which all edges have one direction: 0 horizontal, 1 vertical. */
const createEdges = (vertical: number) => {
  const [x, y] = vertical ? [-100, 0] : [100, 0]
  return Buffer.from(
    Int8Array.from(Array.from({ length: 288 }, (_, index) => (index % 2 ? y! : x!))).buffer,
  )
}
const picture = {
  brightness: 120,
  contrast: 50,
  still_s: 0,
  sharpness: 1,
  edges: createEdges(0).toString('base64'),
}
const running: SourceCondition = { id: 1, type: 'video', state: 'running', picture }

const learned: PictureReference = {
  samples: 100,
  sharpness: 1,
  edges: [...new Int8Array(createEdges(0))],
}

/** Returns the kinds of the failures that are present. */
const findFailures = (
  condition: Partial<SourceCondition>,
  reference: PictureReference | undefined = learned,
) =>
  observeSource({ ...running, ...condition }, { subject, reference, thresholds })
    .observations.filter(({ presence }) => presence === 'present')
    .map(({ kind }) => kind)

describe('rules about a camera', () => {
  it.each<[string, Partial<SourceCondition>, string[]]>([
    ['that runs', {}, []],
    ['that reconnects', { state: 'reconnecting' }, ['camera_unreachable']],
    ['that has failed', { state: 'failed', reason: 'wrong password' }, ['camera_unreachable']],
    ['whose file is read again', { type: 'inf', state: 'reconnecting' }, []],
    [
      'with a black picture',
      { picture: { ...picture, brightness: 16, contrast: 1 } },
      ['picture_black'],
    ],
    ['at night with some light', { picture: { ...picture, brightness: 20, contrast: 15 } }, []],
    ['with a frozen picture', { picture: { ...picture, still_s: 61 } }, ['picture_frozen']],
    ['with a picture that was still for a moment', { picture: { ...picture, still_s: 59 } }, []],
    ['without focus', { picture: { ...picture, sharpness: 0.3 } }, ['picture_defocused']],
    [
      'that was turned',
      { picture: { ...picture, edges: createEdges(1).toString('base64') } },
      ['picture_moved'],
    ],
    [
      'of which too few frames are analysed',
      { received_fps: 25, analysed_fps: 12 },
      ['low_frame_rate'],
    ],
    [
      'that sends few frames, all of them analysed',
      { fps: 25, received_fps: 8, analysed_fps: 8 },
      [],
    ],
    [
      'that sends less than configured',
      { rate: 10, fps: 25, received_fps: 5, analysed_fps: 5 },
      ['low_frame_rate'],
    ],
    [
      'slower than the configured maximum',
      { rate: 30, fps: 15, received_fps: 15, analysed_fps: 15 },
      [],
    ],
    [
      'whose recording has failed',
      { recording: { mode: 'event', state: 'failed' } },
      ['recording_stopped'],
    ],
    [
      'that is not recorded',
      { recording: { mode: 'continuous', state: 'waiting' } },
      ['recording_stopped'],
    ],
    ['whose recording waits for an event', { recording: { mode: 'event', state: 'waiting' } }, []],
  ])('report of one %s exactly what is wrong', (_, condition, expected) => {
    expect(findFailures(condition)).toEqual(expected)
  })

  it('judge neither focus nor scene before they were learned', () => {
    const changed = { ...picture, sharpness: 0.1, edges: createEdges(1).toString('base64') }
    expect(findFailures({ picture: changed }, { ...learned, samples: 29 })).toEqual([])
    expect(findFailures({ picture: changed }, { ...learned, samples: 30 })).toEqual([
      'picture_defocused',
    ])
  })

  it('do not learn from a picture that they report', () => {
    const { reference } = observeSource(
      { ...running, picture: { ...picture, sharpness: 0.1 } },
      { subject, reference: learned, thresholds },
    )
    expect(reference).toBe(learned)
  })

  it('end all alerts about the pictures of a camera that is no longer analysed', () => {
    const { picture: _, ...unanalysed } = running
    const { observations, reference } = observeSource(unanalysed, {
      subject,
      reference: learned,
      thresholds,
    })
    expect(observations.map(({ presence }) => presence)).toEqual(Array(7).fill('absent'))
    expect(reference).toBe(learned)
  })

  it('leave open whether the picture of an unreachable camera is black', () => {
    const { observations } = observeSource(
      { ...running, state: 'reconnecting' },
      { subject, reference: learned, thresholds },
    )
    expect(observations.find(({ kind }) => kind === 'picture_black')?.presence).toBe('unknown')
  })
})
