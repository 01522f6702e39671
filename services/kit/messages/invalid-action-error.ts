/** The action cannot be carried out as it is configured. The message says what to change. */
export class InvalidActionError extends Error {
  override readonly name = 'InvalidActionError'
}
