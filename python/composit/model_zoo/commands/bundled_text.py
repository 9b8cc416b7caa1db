"""A short story, for language models to learn from where no other text is given."""

TEXT = """\
The lighthouse keeper had a clock that ran backwards. It had come with the house, and the house
had come with the island, and the island, as far as anyone in the village knew, had come with
the sea. Every evening he wound it, and every evening it took away a minute that had just been
lived.

"It is of no use," said the baker, who rowed over on Mondays with the bread. "A clock should
tell you what time it is."

"It does," said the keeper. "You only have to know what time it was."

The baker shook her head and counted the loaves. There were six loaves on Mondays, six on
Thursdays, and on the day of the midsummer fair there were seven, because one was sweet and did
not count.

In the winter the storms came. They came from the north with snow in their pockets, and from the
west with the cries of birds, and when they met above the island they quarrelled until the
morning. The keeper sat below the lamp and listened. He knew the north wind by its voice and the
west wind by its step. He wrote them down in a book: the north wind at nine, the west wind at
ten, the north wind again at eleven. But the clock ran backwards, and so the book said that the
storm had ended before it began.

One night a ship was in the storm. The keeper saw its light, a small light, lower than the stars
and less sure of itself. He went up the stairs, a hundred and twelve of them, and he turned the
great lamp to the west, and he turned it to the north, and the small light followed it as a
child follows a hand. It came past the first rock and past the second rock. It came past the
third rock, which nobody had ever named, because nobody who had come so near to it had wanted to
remember it.

In the morning the captain sat in the kitchen and ate the bread of Thursday. She looked at the
clock for a long time.

"It is wrong," she said.

"It is," said the keeper. "It is wrong by a different amount every minute. But twice a day it is
right, and then I know it, and I go up and look at the sea."

"A clock that stands still is right twice a day," said the captain.

"A clock that runs backwards is right four times," said the keeper, "and it has seen more."

The captain laughed, and she stayed until the wind had gone home. When she left she gave the
keeper a compass that pointed to the south. He put it beside the clock, and the two of them
understood each other at once.

On Monday the baker came with six loaves. She looked at the clock, and she looked at the
compass, and she looked at the keeper, who was writing in his book that the storm was still to
come.

"It is of no use," said the baker.

"It is not," said the keeper, and he put the water on for the tea, and outside the sea went up
and down, up and down, as it had done before there was anyone to count.
"""
