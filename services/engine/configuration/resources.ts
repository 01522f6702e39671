import { EyrieError, type Override } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { z } from 'zod'
import type { ConfigurationState } from './configuration-state.ts'
import { assertIfMatch, computeEtag, type WithEtag } from './etag.ts'
import { mergePatch } from './merge-patch.ts'

/**
 * Replaces the state of the configuration by the result of `change`, and returns the new state.
 * Throws `EyrieError` (`capacity`) if the machine lacks the capacity for it, unless overridden.
 */
export type Edit = (
  change: (state: ConfigurationState) => ConfigurationState | Promise<ConfigurationState>,
  override?: Override,
) => Promise<ConfigurationState>

/** How sources, sinks or pipelines differ from each other in storage, validation and removal. */
export interface ResourceDefinition<Stored extends { id: number }, Input> {
  name: 'source' | 'sink' | 'pipeline'
  /** The schema of a request body that creates or replaces a resource. */
  input: z.ZodType<Input>
  list(state: ConfigurationState): Stored[]
  replaceList(state: ConfigurationState, stored: Stored[]): ConfigurationState
  /**
   * Validates an input against the configuration and returns its stored form. `stored` is
   * undefined on creation.
   */
  toStored(
    input: Input,
    stored: Stored | undefined,
    state: ConfigurationState,
  ): Promise<Omit<Stored, 'id'>>
  /**
   * Returns the final state after an edit of the resource. Throws `EyrieError` (`syntax`) if
   * the state is invalid.
   */
  afterEdit(state: ConfigurationState, id: number): ConfigurationState
  /**
   * Removes the resource. Throws `EyrieError` (`reference`) if another resource refers to it
   * and `force` is false.
   */
  remove(state: ConfigurationState, id: number, force: boolean): ConfigurationState
  /** Returns the resource with its secrets hidden. */
  redact(stored: Stored): Stored
}

/**
 * The sources, sinks or pipelines of the configuration. Each edit is atomic. If `ifMatch` is
 * present and does not match the entity tag, an edit throws `EyrieError` (`precondition`).
 */
export interface Resources<Stored extends { id: number }, Input> {
  list(): WithEtag<Stored[]>
  get(id: number): WithEtag<Stored>
  create(input: Input, ifMatch?: string, override?: Override): Promise<WithEtag<Stored>>
  update(id: number, input: Input, ifMatch?: string, override?: Override): Promise<WithEtag<Stored>>
  /** Updates the resource with an input derived from its stored form. */
  updateFrom(
    id: number,
    toInput: (stored: Stored) => Input,
    ifMatch?: string,
    override?: Override,
  ): Promise<WithEtag<Stored>>
  /** Applies a JSON merge patch. */
  modify(
    id: number,
    patch: object,
    ifMatch?: string,
    override?: Override,
  ): Promise<WithEtag<Stored>>
  remove(id: number, force: boolean, ifMatch?: string): Promise<void>
  /** Replaces the stored form of the resource by the result of `change`. */
  change(
    id: number,
    ifMatch: string | undefined,
    change: (
      stored: Stored,
      state: ConfigurationState,
    ) => Omit<Stored, 'id'> | Promise<Omit<Stored, 'id'>>,
    override?: Override,
  ): Promise<WithEtag<Stored>>
}

/**
 * Creates the operations on one kind of resource. They change the configuration only through
 * `edit`.
 */
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

  // TypeScript does not know that `Stored` is its own content together with an id.
  const withId = (id: number, content: Omit<Stored, 'id'>) => ({ id, ...content }) as Stored

  function getTagged(state: ConfigurationState, id: number): WithEtag<Stored> {
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
      const created = withId(id, await definition.toStored(input, undefined, state))
      const withNextId = { ...state, next: { ...state.next, [definition.name]: id + 1 } }
      const extended = definition.replaceList(withNextId, [...stored, created])
      return definition.afterEdit(extended, id)
    }, override)
    // The edit has assigned the id before the next one.
    return getTagged(edited, edited.next[definition.name] - 1)
  }

  const change: Methods['change'] = async (id, ifMatch, toChanged, override) => {
    const edited = await edit(async state => {
      const stored = find(state, id)
      assertIfMatch(ifMatch, computeEtag(state.tagKey, stored))
      const changed = withId(id, await toChanged(stored, state))
      const resources = definition
        .list(state)
        .map(resource => (resource.id === id ? changed : resource))
      return definition.afterEdit(definition.replaceList(state, resources), id)
    }, override)
    return getTagged(edited, id)
  }

  const updateFrom: Methods['updateFrom'] = (id, toInput, ifMatch, override) =>
    change(
      id,
      ifMatch,
      (stored, state) => definition.toStored(toInput(stored), stored, state),
      override,
    )

  const modify: Methods['modify'] = (id, patch, ifMatch, override) => {
    const applyPatch = (stored: Stored) => {
      // Secrets remain hidden here. `toStored` restores them, unless the patch changes the host
      // to which they belong.
      const { id: _, ...content } = definition.redact(stored)
      return parseAs(definition.input, mergePatch(content, patch))
    }
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
