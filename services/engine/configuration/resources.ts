import { EyrieError, type Override } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { z } from 'zod'
import type { ConfigurationState } from './configuration-state.ts'
import { computeEtag, type WithEtag } from './etag.ts'
import { mergePatch } from './merge-patch.ts'

/**
 * Replaces the state of the configuration by the result of `toNext`, and returns the new state.
 * Throws `EyrieError` (`capacity`) if the machine lacks the capacity for it, unless overridden.
 */
export type Edit = (
  toNext: (state: ConfigurationState) => ConfigurationState | Promise<ConfigurationState>,
  override?: Override,
) => Promise<ConfigurationState>

/** How sources, sinks or pipelines differ from each other in storage, validation and removal. */
export interface ResourceDefinition<Stored extends { id: number }, Input> {
  name: 'source' | 'sink' | 'pipeline'
  /** The schema of a request body that creates or replaces a resource. */
  input: z.ZodType<Input>
  list(state: ConfigurationState): Stored[]
  replaceList(state: ConfigurationState, resources: Stored[]): ConfigurationState
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
   * Returns the final state after the resource was created or replaced. Throws `EyrieError`
   * (`syntax`) if resources conflict in this state.
   */
  afterEdit(state: ConfigurationState, id: number): ConfigurationState
  /** Throws `EyrieError` (`reference`) if the resource is connected to others. */
  assertNotConnected(state: ConfigurationState, id: number): void
  /** Removes the resource and all references to it. */
  remove(state: ConfigurationState, id: number): ConfigurationState
  /** Returns the resource with its secrets hidden. */
  redact(stored: Stored): Stored
}

export interface EditOptions {
  /** If it does not match the entity tag, the edit throws `EyrieError` (`precondition`). */
  ifMatch?: string | undefined
  /** With `capacity`, the edit is accepted even if the machine lacks the capacity for it. */
  override?: Override | undefined
}

export interface RemoveOptions extends Pick<EditOptions, 'ifMatch'> {
  /** Whether to remove the resource even if it is connected to others. */
  force: boolean
}

/**
 * The sources, sinks or pipelines of the configuration. Each edit is atomic. The methods `create`,
 * `update` and `modify` serve the HTTP methods POST, PUT and PATCH.
 */
export interface Resources<Stored extends { id: number }, Input> {
  list(): WithEtag<Stored[]>
  get(id: number): WithEtag<Stored>
  create(input: Input, options?: EditOptions): Promise<WithEtag<Stored>>
  update(id: number, input: Input, options?: EditOptions): Promise<WithEtag<Stored>>
  /** Updates the resource with an input that is derived from its stored form. */
  updateFrom(
    id: number,
    toInput: (stored: Stored) => Input,
    options?: EditOptions,
  ): Promise<WithEtag<Stored>>
  /** Applies a JSON merge patch. */
  modify(id: number, patch: object, options?: EditOptions): Promise<WithEtag<Stored>>
  /**
   * Replaces the stored form of the resource by what `toStored` returns. Only its conflicts with
   * others are checked.
   */
  updateStored(
    id: number,
    toStored: ToStored<Stored>,
    options?: EditOptions,
  ): Promise<WithEtag<Stored>>
  remove(id: number, options: RemoveOptions): Promise<void>
}

/** Returns the new stored form of a resource. */
type ToStored<Stored> = (
  stored: Stored,
  state: ConfigurationState,
) => Omit<Stored, 'id'> | Promise<Omit<Stored, 'id'>>

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

  const list: Methods['list'] = () => {
    const state = getState()
    const resources = definition.list(state)
    return { value: resources.map(definition.redact), etag: computeEtag(state.tagKey, resources) }
  }

  function getFrom(state: ConfigurationState, id: number): WithEtag<Stored> {
    const stored = find(state, id)
    return { value: definition.redact(stored), etag: computeEtag(state.tagKey, stored) }
  }

  function find(state: ConfigurationState, id: number): Stored {
    const stored = definition.list(state).find(resource => resource.id === id)
    if (!stored) throw new EyrieError('id', `${definition.name} ${id} does not exist`)
    return stored
  }

  // TypeScript does not know that `Stored` is its own content together with an id.
  const withId = (id: number, content: Omit<Stored, 'id'>) => ({ id, ...content }) as Stored

  const create: Methods['create'] = async (input, { ifMatch, override } = {}) => {
    const edited = await edit(async state => {
      const resources = definition.list(state)
      assertIfMatch(ifMatch, computeEtag(state.tagKey, resources))

      const id = state.next[definition.name]
      const created = withId(id, await definition.toStored(input, undefined, state))
      const withNextId = { ...state, next: { ...state.next, [definition.name]: id + 1 } }
      const extended = definition.replaceList(withNextId, [...resources, created])
      return definition.afterEdit(extended, id)
    }, override)
    // The edit has assigned the last id before `next`.
    return getFrom(edited, edited.next[definition.name] - 1)
  }

  const updateStored: Methods['updateStored'] = async (
    id,
    toStored,
    { ifMatch, override } = {},
  ) => {
    const edited = await edit(async state => {
      const stored = find(state, id)
      assertIfMatch(ifMatch, computeEtag(state.tagKey, stored))

      const updated = withId(id, await toStored(stored, state))
      const resources = definition
        .list(state)
        .map(resource => (resource.id === id ? updated : resource))
      return definition.afterEdit(definition.replaceList(state, resources), id)
    }, override)
    return getFrom(edited, id)
  }

  const updateFrom: Methods['updateFrom'] = (id, toInput, options) =>
    updateStored(
      id,
      (stored, state) => definition.toStored(toInput(stored), stored, state),
      options,
    )

  const modify: Methods['modify'] = (id, patch, options) => {
    const applyPatch = (stored: Stored) => {
      // Secrets remain hidden here. `toStored` restores them, unless the patch changes the host
      // to which they belong.
      const { id: _, ...content } = definition.redact(stored)
      return parseAs(definition.input, mergePatch(content, patch))
    }
    return updateFrom(id, applyPatch, options)
  }

  const remove: Methods['remove'] = async (id, { force, ifMatch }) => {
    await edit(state => {
      assertIfMatch(ifMatch, computeEtag(state.tagKey, find(state, id)))
      if (!force) definition.assertNotConnected(state, id)
      return definition.remove(state, id)
    })
  }

  return {
    list,
    get: id => getFrom(getState(), id),
    create,
    update: (id, input, options) => updateFrom(id, () => input, options),
    updateFrom,
    modify,
    updateStored,
    remove,
  }
}
