"""The byte tree of the chosen checkpoint, and the tensor under the cursor with its rule."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from widgets.byte_tree import ByteTree
from widgets.fact_list import FactList
from widgets.line_list import LineList
from widgets.visible import visible
from workbench.accounting.count import Count
from workbench.tui.desk import Desk
from workbench.tui.panes import as_title
from workbench.tui.seal import Looked
from workbench.tui.tree_nodes import COLUMNS, accounts_of, detail, matching, roots


class BytesPane(Vertical):
    """Tree, filter, detail."""

    BORDER_TITLE = "2 bytes"
    DEFAULT_CLASSES = "pane"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear_filter", "Clear the filter", show=False)
    ]

    def compose(self) -> ComposeResult:
        """Filter, tree, detail."""
        yield Input(
            placeholder="filter by name, role or rule", compact=True, id="tensor-filter", max_length=200
        )
        yield ByteTree(id="tree")
        yield FactList(id="tensor-detail")

    @property
    def byte_tree(self) -> ByteTree:
        """The tree."""
        return self.query_one(ByteTree)

    def on_mount(self) -> None:
        """Nothing is chosen yet."""
        self.byte_tree.empty_text = "choose a checkpoint: 1, then enter"
        self.query_one("#tensor-filter").display = self.query_one(FactList).display = False
        self._count: Count | None = None
        self._looked: Looked | None = None
        self._config: Mapping[str, Any] = {}
        self._checkpoint_name = self._shown = self._why_empty = ""

    def paint(self, desk: Desk, before: Desk | None) -> None:
        """Show the tree of this desk's count; a count that is there already is not built again."""
        same_count = before is not None and desk.count is before.count
        if (
            before is not None
            and same_count
            and (desk.busy, desk.looked) == (before.busy, before.looked)
            and desk.problem is before.problem
        ):
            return
        self._count, self._checkpoint_name, self._looked = desk.count, desk.name, desk.looked
        self._config = desk.checkpoint.config if desk.checkpoint is not None else {}
        if desk.count is None:
            words = (
                desk.problem.message if desk.problem else desk.busy or "choose a checkpoint: 1, then enter"
            )
            self.byte_tree.empty_text = visible(words, 400)
        self._why_empty = "there are no tensors"
        if desk.checkpoint is not None and desk.checkpoint.reason:
            self._why_empty = visible(desk.checkpoint.reason, 400)
        self._show(keep=same_count and desk.count is not None)
        self.border_title = f"2 bytes: {as_title(desk.name.rsplit('/', 1)[-1])}" if desk.name else "2 bytes"

    def start_filter(self) -> None:
        """Show the filter box and put the cursor into it."""
        box = self.query_one("#tensor-filter", Input)
        box.display = True
        box.focus()

    def _show(self, *, keep: bool = False) -> None:
        count = self._count
        if count is None:
            self.byte_tree.show([])
            self.border_subtitle = ""
            return
        text = self.query_one("#tensor-filter", Input).value
        rows = matching(count.rows, text) if text.strip() else count.rows
        found = roots(rows, self._checkpoint_name, accounts_of(count, self._looked))
        self.byte_tree.show(found, extra_columns=COLUMNS, keep=keep)
        if keep:
            self._detail(self.byte_tree.cursor)
        of = f"{len(rows):,} of {len(count.rows):,}" if len(rows) != len(count.rows) else f"{len(rows):,}"
        self._shown = f"{of} tensors"
        self._subtitle()
        if not rows:
            filtered_out = "no tensor matches: esc clears the filter"
            self.byte_tree.empty_text = filtered_out if count.rows else self._why_empty

    def _detail(self, index: int) -> None:
        node = self.byte_tree.node_at(index)
        facts = self.query_one(FactList)
        rows = self._count.rows if self._count is not None else ()
        facts.show(detail(node, rows, self._config) if node else [])
        facts.display = node is not None

    def toggle_order(self) -> None:
        """Largest first, or model order."""
        self.byte_tree.by_size = not self.byte_tree.by_size
        self._subtitle()

    def _subtitle(self) -> None:
        order = "largest first" if self.byte_tree.by_size else "model order"
        self.border_subtitle = f"{self._shown}, {order}" if self._count is not None else ""

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._detail(event.index)

    @on(Input.Changed, "#tensor-filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()

    @on(Input.Submitted, "#tensor-filter")
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.byte_tree.focus()

    def action_clear_filter(self) -> None:
        """Escape: all tensors again, keys back to the tree."""
        box = self.query_one("#tensor-filter", Input)
        box.value = ""
        box.display = False
        self.byte_tree.focus()
