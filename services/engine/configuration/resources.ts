import { EyrieError, type Override } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { z } from 'zod'
import type { ConfigurationState } from './configuration-state.ts'
import { assertIfMatch, computeEtag, type Tagged } from './etag.ts'
import { mergePatch } from './merge-patch.ts'

/** Edits the configuration. Throws `EyrieError` (`capacity`) if the result exceeds the capacity without an override. */
export type Edit = (
  change: (state: ConfigurationState) => ConfigurationState | Promise<ConfigurationState>,
  override?: Override,
) => Promise<ConfigurationState>

/** The rules that differ between sources, sinks and pipelines. */
export interface ResourceDefinition<Stored extends { id: number }, Input> {
  name: 'source' | 'sink' | 'pipeline'
  input: z.ZodType<Input>
  list(state: ConfigurationState): Stored[]
  replaceList(state: ConfigurationState, stored: Stored[]): ConfigurationState
  /** Validates an input against the rest of the configuration and converts it to its stored form. */
  toStored(input: Input, stored: Stored | undefined, state: ConfigurationState): Promise<Omit<Stored, 'id'>>
  /** Adjusts the state after the resource was edited. Throws `EyrieError` (`syntax`) if the result is invalid. */
  afterEdit(state: ConfigurationState, id: number): ConfigurationState
  /** Removes the resource. Throws `EyrieError` (`reference`) if others refer to it and `force` is false. */
  remove(state: ConfigurationState, id: number, force: boolean): ConfigurationState
  /** The resource without its secrets. */
  redact(stored: Stored): Stored
}

/** The operations of sources, sinks and pipelines. Each edit is atomic. */
export interface Resources<Stored extends { id: number }, Input> {
  list(): Tagged<Stored[]>
  get(id: number): Tagged<Stored>
  create(input: Input, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  update(id: number, input: Input, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  /** Updates the resource with an input computed from its stored form, within one edit. */
  updateFrom(
    id: number,
    toInput: (stored: Stored) => Input,
    ifMatch?: string,
    override?: Override,
  ): Promise<Tagged<Stored>>
  /** Applies a JSON merge patch. */
  modify(id: number, patch: object, ifMatch?: string, override?: Override): Promise<Tagged<Stored>>
  remove(id: number, force: boolean, ifMatch?: string): Promise<void>
  /** Replaces the stored form of the resource. */
  change(
    id: number,
    ifMatch: string | undefined,
    change: (stored: Stored, state: ConfigurationState) => Omit<Stored, 'id'> | Promise<Omit<Stored, 'id'>>,
    override?: Override,
  ): Promise<Tagged<Stored>>
}

export function createResources<Stored extends { id: number }, Input>(
  definition: ResourceDefinition<Stored, Input>,
  getState: () => ConfigurationState,
  edit: Edit,
): Resources<Stored, Input> {
  type Methods = Resources<Stored, Input>

  function find(state: ConfigurationState, id: number): Stored {
    const stored = definition.list(state).find(candidate => candidate.id === id)
    if (!stored) throw new EyrieError('id', `${definition.name} ${id} does not exist`)
    return stored
  }

  function getTagged(state: ConfigurationState, id: number): Tagged<Stored> {
    const stored = find(state, id)
    return { value: definition.redact(stored), etag: computeEtag(state.tagKey, stored) }
  }

  const list: Methods['list'] = () => {
    const state = getState()
    const stored = definition.list(state)
    return { value: stored.map(definition.redact), etag: computeEtag(state.tagKey, stored) }
  }

  const create: Methods['create'] = async (input, ifMatch, override) => {
    const edited = await edit(async state => {
      const stored = definition.list(state)
      assertIfMatch(ifMatch, computeEtag(state.tagKey, stored))
      const id = state.next[definition.name]
      const created = { id, ...(await definition.toStored(input, undefined, state)) } as Stored
      const next = { ...state.next, [definition.name]: id + 1 }
      return definition.afterEdit(definition.replaceList({ ...state, next }, [...stored, created]), id)
    }, override)
    return getTagged(edited, edited.next[definition.name] - 1)
  }

  const change: Methods['change'] = async (id, ifMatch, change, override) => {
    const edited = await edit(async state => {
      const stored = find(state, id)
      assertIfMatch(ifMatch, computeEtag(state.tagKey, stored))
      const changed = { id, ...(await change(stored, state)) } as Stored
      const all = definition.list(state).map(other => (other.id === id ? changed : other))
      return definition.afterEdit(definition.replaceList(state, all), id)
    }, override)
    return getTagged(edited, id)
  }

  const updateFrom: Methods['updateFrom'] = (id, toInput, ifMatch, override) =>
    change(id, ifMatch, (stored, state) => definition.toStored(toInput(stored), stored, state), override)

  const modify: Methods['modify'] = (id, patch, ifMatch, override) => {
    const applyPatch = ({ id: _, ...content }: Stored) =>
      parseAs(definition.input, mergePatch(content, patch))
    return updateFrom(id, applyPatch, ifMatch, override)
  }

  const remove: Methods['remove'] = async (id, force, ifMatch) => {
    await edit(state => {
      assertIfMatch(ifMatch, computeEtag(state.tagKey, find(state, id)))
      return definition.remove(state, id, force)
    })
  }

  return {
    list,
    get: id => getTagged(getState(), id),
    create,
    update: (id, input, ifMatch, override) => updateFrom(id, () => input, ifMatch, override),
    updateFrom,
    modify,
    remove,
    change,
  }
}
