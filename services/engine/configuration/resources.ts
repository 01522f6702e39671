import { EyrieError, type Override } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { z } from 'zod'
import type { State } from './configuration-state.ts'
import { etagOf, requireMatch, type Tagged } from './etag.ts'
import { mergePatch } from './merge-patch.ts'

/** Throws EyrieError `capacity` where what it leads to does not fit on the machine, unless that is overridden. */
export type Edit = (change: (state: State) => State | Promise<State>, override?: Override) => Promise<State>

/** What sources, sinks and pipelines differ in. */
export interface Kind<Stored extends { id: number }, Input> {
  name: 'source' | 'sink' | 'pipeline'
  input: z.ZodType<Input>
  read(state: State): Stored[]
  write(state: State, stored: Stored[]): State
  /** Checks a body against everything else that is configured and makes of it what is stored. */
  settle(input: Input, stored: Stored | undefined, state: State): Promise<Omit<Stored, 'id'>>
  /** What else follows from an edit of the resource. Throws EyrieError `syntax` if that must not be. */
  edited(state: State, id: number): State
  /** The state without the resource. Throws EyrieError `reference` if others refer to it, unless forced. */
  remove(state: State, id: number, force: boolean): State
  /** The resource as it may be shown. */
  show(stored: Stored): Stored
}

/** The operations that sources, sinks and pipelines have in common; each edit is whole or does not happen. */
export interface Resources<Stored extends { id: number }, Input> {
  list(): Tagged<Stored[]>
  get(id: number): Tagged<Stored>
  create(input: Input, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  update(id: number, input: Input, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  /** An update by what `input` makes of what is stored, read in the same turn in which it is written. */
  updateFrom(
    id: number,
    input: (stored: Stored) => Input,
    ifMatch?: string,
    override?: Override,
  ): Promise<Tagged<Stored>>
  modify(id: number, patch: object, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  remove(id: number, force: boolean, ifMatch?: string): Promise<void>
  /** Replaces the resource by what `change` makes of it. */
  change(
    id: number,
    ifMatch: string | undefined,
    change: (stored: Stored, state: State) => Omit<Stored, 'id'> | Promise<Omit<Stored, 'id'>>,
    override?: Override,
  ): Promise<Tagged<Stored>>
}

export function createResources<Stored extends { id: number }, Input>(
  kind: Kind<Stored, Input>,
  current: () => State,
  edit: Edit,
): Resources<Stored, Input> {
  const find = (state: State, id: number): Stored => {
    const found = kind.read(state).find(stored => stored.id === id)
    if (!found) throw new EyrieError('id', `there is no ${kind.name} ${id}`)
    return found
  }
  const tagged = (state: State, id: number): Tagged<Stored> => {
    const stored = find(state, id)
    return { value: kind.show(stored), etag: etagOf(state.tagKey, stored) }
  }
  const change: Resources<Stored, Input>['change'] = async (id, ifMatch, change, override) => {
    const state = await edit(async state => {
      const stored = find(state, id)
      requireMatch(ifMatch, etagOf(state.tagKey, stored))
      const changed = { id, ...(await change(stored, state)) } as Stored
      const all = kind.read(state).map(other => (other.id === id ? changed : other))
      return kind.edited(kind.write(state, all), id)
    }, override)
    return tagged(state, id)
  }
  const updateFrom: Resources<Stored, Input>['updateFrom'] = (id, input, ifMatch, override) =>
    change(id, ifMatch, (stored, state) => kind.settle(input(stored), stored, state), override)

  return {
    list: () => {
      const state = current()
      return { value: kind.read(state).map(kind.show), etag: etagOf(state.tagKey, kind.read(state)) }
    },
    get: id => tagged(current(), id),
    create: async (input, ifMatch, override) => {
      const state = await edit(async state => {
        requireMatch(ifMatch, etagOf(state.tagKey, kind.read(state)))
        const id = state.next[kind.name]
        const settled = { id, ...(await kind.settle(input, undefined, state)) } as Stored
        const next = { ...state.next, [kind.name]: id + 1 }
        return kind.edited(kind.write({ ...state, next }, [...kind.read(state), settled]), id)
      }, override)
      return tagged(state, state.next[kind.name] - 1)
    },
    update: (id, input, ifMatch, override) => updateFrom(id, () => input, ifMatch, override),
    updateFrom,
    modify: (id, patch, ifMatch, override) =>
      updateFrom(
        id,
        ({ id: _, ...content }) => parseAs(kind.input, mergePatch(content, patch)),
        ifMatch,
        override,
      ),
    change,
    remove: async (id, force, ifMatch) => {
      await edit(state => {
        requireMatch(ifMatch, etagOf(state.tagKey, find(state, id)))
        return kind.remove(state, id, force)
      })
    },
  }
}
