/**
 * The message of the operating system, which Postgres and its tools repeat in their own messages.
 */
export const FULL_DISK_MESSAGE = 'No space left on device'

/** A full disk with the remedy, for the operator of the appliance. */
export const FULL_DISK_REASON =
  'the disk is full: delete files that are not needed, or enlarge the disk'
