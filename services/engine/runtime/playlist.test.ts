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

const wantedIds = (playlist: Playlist) => playlist.activeSources.map(({ id }) => id)

/** A playlist on which file 1 is being played. */
function playing(): Playlist {
  const playlist = new Playlist()
  playlist.apply([file()])
  playlist.findEntry(1)!.isHeld = false
  return playlist
}

it('holds files until their channels are ready, but not cameras', () => {
  const playlist = new Playlist()
  const camera = file({ id: 2, type: 'video', address: { url: 'rtsp://camera' } })
  playlist.apply([file(), camera])
  expect(wantedIds(playlist)).toEqual([2])
  for (const entry of playlist.heldEntries) entry.isHeld = false
  expect(wantedIds(playlist)).toEqual([1, 2])
})

it('retains the progress of unchanged sources', () => {
  const playlist = playing()
  playlist.apply([file(), file({ id: 2 })])
  expect(playlist.heldEntries.map(({ plan }) => plan.id)).toEqual([2])
  expect(wantedIds(playlist)).toEqual([1])
})

it('does not replay an ended file, even after a restart', () => {
  const playlist = playing()
  playlist.apply([file(), file({ id: 2, ended: true })])
  playlist.findEntry(1)!.endStatus = { id: 1, state: 'ended' }
  expect(wantedIds(playlist)).toEqual([])
  playlist.apply([file({ ended: true }), file({ id: 2, ended: true })])
  expect(wantedIds(playlist)).toEqual([])
})

it('replays an ended file that was edited or reset', () => {
  const edited = playing()
  edited.findEntry(1)!.endStatus = { id: 1, state: 'ended' }
  edited.apply([file({ rate: 5 })])
  expect(edited.findEntry(1)).toMatchObject({ isHeld: true, endStatus: undefined })

  const anew = new Playlist()
  anew.apply([file({ ended: true })])
  anew.apply([file({ ended: false })])
  expect(anew.findEntry(1)).toMatchObject({ isHeld: true, endStatus: undefined })
})
