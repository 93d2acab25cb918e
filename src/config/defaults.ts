// Default names that not only the schema needs.

/** The group and the account of a key that names none. */
export const defaultGroup = 'default'
export const defaultAccount = 'default'

/** Relative to the working folder, wherever the file is. */
export const defaultData = './data'
