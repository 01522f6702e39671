/**
 * Name prefix of auxiliary elements. They form side branches of a source's pipeline, such as
 * transcoding and sound. A failure of a side branch must not stop the source. The prefix is short
 * because Linux limits thread names to 15 characters.
 */
export const AUXILIARY = 'aux-'

/** Whether a pipeline error comes from an auxiliary element. */
export const isAuxiliary = (error: { source: string | null }) =>
  error.source?.startsWith(AUXILIARY) ?? false

/**
 * Returns the launch string of the first element of an auxiliary branch, which hides failures of
 * the branch from the tee.
 */
export const errorGuard = (name: string) =>
  `errorignore name=${AUXILIARY}${name}-guard convert-to=ok`
