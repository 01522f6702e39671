import { expect, it } from 'vitest'
import type { SourcePlan } from '../plan/plan.ts'
import { Playlist } from './playlist.ts'

const file = (fields: Partial<SourcePlan> = {}): SourcePlan => ({
  id: 1,
  type: 'file',
  address: { url: 'file:///videos/street.mp4' },
  decoder: 'gst_h264',
  rate: undefined,
  pacing: 'realtime',
  ended: false,
  ...fields,
})

const wantedIds = (playlist: Playlist) => playlist.wanted.map(({ id }) => id)

/** A playlist on which file 1 is being played. */
function playing(): Playlist {
  const playlist = new Playlist()
  playlist.apply([file()])
  playlist.entry(1)!.held = false
  return playlist
}

it('holds a file until its channels are ready, but no camera', () => {
  const playlist = new Playlist()
  const camera = file({ id: 2, type: 'video', address: { url: 'rtsp://camera' } })
  playlist.apply([file(), camera])
  expect(wantedIds(playlist)).toEqual([2])
  for (const entry of playlist.held) entry.held = false
  expect(wantedIds(playlist)).toEqual([1, 2])
})

it('leaves alone what has not changed', () => {
  const playlist = playing()
  playlist.apply([file(), file({ id: 2 })])
  expect(playlist.held.map(({ plan }) => plan.id)).toEqual([2])
  expect(wantedIds(playlist)).toEqual([1])
})

it('does not play a file again that has ended, before a restart or since', () => {
  const playlist = playing()
  playlist.apply([file(), file({ id: 2, ended: true })])
  playlist.entry(1)!.end = { id: 1, state: 'ended' }
  expect(wantedIds(playlist)).toEqual([])
  playlist.apply([file({ ended: true }), file({ id: 2, ended: true })])
  expect(wantedIds(playlist)).toEqual([])
})

it('plays a file again that was edited, or planned anew, after it had ended', () => {
  const edited = playing()
  edited.entry(1)!.end = { id: 1, state: 'ended' }
  edited.apply([file({ rate: 5 })])
  expect(edited.entry(1)).toMatchObject({ held: true, end: undefined })

  const anew = new Playlist()
  anew.apply([file({ ended: true })])
  anew.apply([file({ ended: false })])
  expect(anew.entry(1)).toMatchObject({ held: true, end: undefined })
})
